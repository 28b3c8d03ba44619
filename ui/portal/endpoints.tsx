/** All endpoints of the customer, and how each is doing. */
import { useState } from "react";
import { Await, Button, Empty } from "../lib/kit";
import { useLoad } from "../lib/load";
import { go, to } from "../lib/router";
import { usePortal, useWords } from "./context";
import { EndpointForm } from "./endpoint_form";
import { EndpointWord } from "./status";
import { Endpoint } from "./webhooks";

export const day_ms = 86_400_000;

/** Of the attempts of the last 24 hours; undefined: there was none. */
export function successRate(stats: { success: number; fail: number }): number | undefined {
  const all = stats.success + stats.fail;
  return all ? stats.success / all : undefined;
}

/** The figures of one row come by themselves: a list must not wait for its slowest row. */
function useFigures(id: string) {
  const { webhooks } = usePortal();
  return useLoad(
    async (signal) => {
      const [state, stats] = await Promise.all([
        webhooks.state(id, signal),
        webhooks.stats(id, new Date(Date.now() - day_ms), signal),
      ]);
      return { state, stats };
    },
    [id],
  );
}

type Figure = "state" | "rate" | "held";

function FigureCell({ endpoint, figure, of }: { endpoint: Endpoint; figure: Figure; of: ReturnType<typeof useFigures> }) {
  const { number, percent } = useWords();
  if (figure === "state") return <EndpointWord endpoint={endpoint} state={of.data?.state} />;
  if (!of.data) return <>–</>;
  if (figure === "held") return <>{number(of.data.state.held.messages)}</>;
  const rate = successRate(of.data.stats);
  return <>{rate === undefined ? "–" : percent(rate)}</>;
}

function EndpointRow({ endpoint }: { endpoint: Endpoint }) {
  const { t } = useWords();
  const figures = useFigures(endpoint.id);
  return (
    <tr data-id={endpoint.id}>
      <td data-label={t("endpoint.url")}>
        <span>
          <a href={to("endpoints", endpoint.id)} className="url">
            {endpoint.url}
          </a>
          {endpoint.description && <span className="quiet"> {endpoint.description}</span>}
        </span>
      </td>
      <td data-label={t("endpoint.state")}>
        <FigureCell endpoint={endpoint} figure="state" of={figures} />
      </td>
      <td data-label={t("endpoint.rate24")} className="end">
        <FigureCell endpoint={endpoint} figure="rate" of={figures} />
      </td>
      <td data-label={t("endpoint.held")} className="end">
        <FigureCell endpoint={endpoint} figure="held" of={figures} />
      </td>
    </tr>
  );
}

export function Endpoints() {
  const { t } = useWords();
  const { webhooks, mayManage } = usePortal();
  const [count, setCount] = useState(1);
  const [adding, setAdding] = useState(false);
  const list = useLoad(
    async (signal) => {
      const found: Endpoint[] = [];
      let iterator: string | undefined;
      let done = false;
      for (let i = 0; i < count && !done; ++i) {
        const page = await webhooks.endpoints(iterator, signal);
        found.push(...page.data);
        iterator = page.iterator ?? undefined;
        done = page.done || !iterator;
      }
      return { found, done };
    },
    [],
  );
  const add = mayManage && (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t("endpoint.add")}
    </Button>
  );
  return (
    <>
      <div className="row apart">
        <h1>{t("nav.endpoints")}</h1>
        {list.data && list.data.found.length > 0 && add}
      </div>
      <p className="quiet">{t("endpoints.about")}</p>
      <Await from={list}>
        {({ found, done }) =>
          found.length === 0 ? (
            <Empty title={t("endpoints.none")}>
              <p>{t("endpoints.none.how")}</p>
              {add || <p className="quiet">{t("endpoints.none.ask")}</p>}
            </Empty>
          ) : (
            <section className="card">
              <table>
                <caption className="hidden">{t("nav.endpoints")}</caption>
                <thead>
                  <tr>
                    <th scope="col">{t("endpoint.url")}</th>
                    <th scope="col">{t("endpoint.state")}</th>
                    <th scope="col" className="end">
                      {t("endpoint.rate24")}
                    </th>
                    <th scope="col" className="end">
                      {t("endpoint.held")}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.map((one) => (
                    <EndpointRow key={one.id} endpoint={one} />
                  ))}
                </tbody>
              </table>
              {!done && (
                <Button
                  onClick={() => {
                    setCount(count + 1);
                    list.again();
                  }}
                >
                  {t("lib.more")}
                </Button>
              )}
            </section>
          )
        }
      </Await>
      {adding && <EndpointForm onClose={() => setAdding(false)} onDone={(made) => go("endpoints", made.id)} />}
    </>
  );
}

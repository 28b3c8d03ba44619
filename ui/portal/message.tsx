/** One message: what it says, where it goes, and every attempt. */
import { useState } from "react";
import { ApiError, newKey } from "../lib/api";
import { indented } from "../lib/json";
import { Await, Button, Code, Empty, Failure, Table, useSay } from "../lib/kit";
import { asError, useLoad } from "../lib/load";
import { to } from "../lib/router";
import { Time } from "../lib/time";
import { usePortal, useWords } from "./context";
import { DeliveryWord } from "./status";
import { Attempt, Destination, Message } from "./webhooks";

export function MessageView({ id }: { id: string }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const message = useLoad((signal) => webhooks.message(id, signal), [id]);
  const destinations = useLoad((signal) => webhooks.destinations(id, signal), [id]);
  const attempts = useLoad((signal) => webhooks.attemptsOfMessage(id, undefined, signal), [id]);
  return (
    <>
      <p>
        <a href={to()}>← {t("nav.endpoints")}</a>
      </p>
      <Await from={message}>
        {(one) => (
          <section className="card">
            <h1>{one.eventType}</h1>
            <p className="quiet">
              {one.id} · <Time at={one.timestamp} exact />
              {one.eventId && <> · {one.eventId}</>}
            </p>
            <span className="tags">
              {[...(one.channels ?? []).map((name) => "#" + name), ...(one.tags ?? [])].map((name) => (
                <span className="tag" key={name}>
                  {name}
                </span>
              ))}
            </span>
          </section>
        )}
      </Await>
      <section className="card" aria-labelledby="to">
        <h2 id="to">{t("message.to")}</h2>
        <Await from={destinations}>
          {(page) =>
            page.data.length === 0 ? (
              <Empty title={t("message.nowhere")}>
                <p>{t("message.nowhere.why")}</p>
              </Empty>
            ) : (
              <Destinations
                message={id}
                rows={page.data}
                onSent={() => {
                  destinations.again();
                  attempts.again();
                }}
              />
            )
          }
        </Await>
      </section>
      <section className="card" aria-labelledby="tried">
        <div className="row apart">
          <h2 id="tried">{t("attempts.title")}</h2>
          <Button
            onClick={() => {
              destinations.again();
              attempts.again();
            }}
          >
            {t("attempts.refresh")}
          </Button>
        </div>
        <Await from={attempts}>
          {(page) =>
            page.data.length === 0 ? (
              <p className="quiet">{t("message.untried")}</p>
            ) : (
              <>{page.data.map((one) => <AttemptDetails key={one.id} attempt={one} />)}</>
            )
          }
        </Await>
      </section>
      <Payload id={id} />
      <Await from={message}>{(one) => <Sent message={one} />}</Await>
    </>
  );
}

function Destinations({ message, rows, onSent }: { message: string; rows: Destination[]; onSent: () => void }) {
  const { t } = useWords();
  const { webhooks, maySend } = usePortal();
  const say = useSay();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState("");
  const resend = async (endpoint: string) => {
    setBusy(endpoint);
    try {
      await webhooks.resend(message, endpoint, newKey());
      setError(undefined);
      say(t("message.resent"));
    } catch (thrown) {
      setError(asError(thrown));
    }
    setBusy("");
    onSent();
  };
  return (
    <>
      <Table
        caption={t("message.to")}
        rows={rows}
        id={(one) => one.id}
        columns={[
          { title: t("endpoint.url"), cell: (one) => <a href={to("endpoints", one.id)}>{one.url}</a> },
          { title: t("attempts.state"), cell: (one) => <DeliveryWord status={one.status} /> },
          { title: t("message.next"), cell: (one) => <Time at={one.nextAttempt} /> },
          ...(maySend
            ? [
                {
                  title: t("message.act"),
                  cell: (one: Destination) => (
                    <Button disabled={busy === one.id} onClick={() => resend(one.id)}>
                      {t("message.resend")}
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {error && <Failure error={error} />}
    </>
  );
}

function AttemptDetails({ attempt }: { attempt: Attempt }) {
  const { t, duration } = useWords();
  const answer = typeof attempt.response === "string" ? attempt.response : "";
  return (
    <details data-id={attempt.id}>
      <summary>
        <DeliveryWord status={attempt.status} /> {attempt.responseStatusCode || t("attempts.noanswer")} ·{" "}
        {duration(attempt.responseDurationMs)} · <Time at={attempt.timestamp} exact />
        {attempt.triggerType === 1 && <> · {t("attempts.byhand")}</>}
      </summary>
      <p className="quiet">{attempt.url}</p>
      {answer ? <Code text={answer} label={t("attempts.answer")} /> : <p className="quiet">{t("attempts.empty")}</p>}
    </details>
  );
}

function Payload({ id }: { id: string }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const payload = useLoad<string | null>(
    (signal) =>
      webhooks.payload(id, signal).catch((error: ApiError) => {
        if (error.status === 404) return null;  // expunged, or its time is over
        throw error;
      }),
    [id],
  );
  return (
    <section className="card" aria-labelledby="payload">
      <h2 id="payload">{t("message.payload")}</h2>
      <Await from={payload}>
        {(text) => (text === null ? <p className="quiet">{t("message.gone")}</p> : <Code text={shown(text)} label={t("message.payload")} />)}
      </Await>
    </section>
  );
}

const shown_max = 256 * 1024;

function shown(text: string): string {
  return text.length > shown_max ? text.slice(0, shown_max) + "\n…" : indented(text);
}

/** What a receiver sees besides: it needs these to verify. */
function Sent({ message }: { message: Message }) {
  const { t } = useWords();
  const seconds = t("message.header.time");
  return (
    <section className="card" aria-labelledby="sent">
      <h2 id="sent">{t("message.headers")}</h2>
      <Code
        label={t("message.headers")}
        text={["webhook", "svix"]
          .flatMap((family) => [
            `${family}-id: ${message.id}`,
            `${family}-timestamp: ${seconds}`,
            `${family}-signature: v1,${t("message.header.signature")}`,
          ])
          .join("\n")}
      />
      <p className="quiet">{t("message.headers.more")}</p>
    </section>
  );
}

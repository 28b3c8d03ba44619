/** One endpoint: how it is doing, why something waits, its attempts, and what can be done about it. */
import { useEffect, useState } from "react";
import { newKey } from "../lib/api";
import { AttemptsChart, Bucket } from "../lib/chart";
import { Await, Button, Check, Choice, Dialog, Empty, Figures, Form, Table, TextField, useSay } from "../lib/kit";
import { Loaded, useEvery, useLoad } from "../lib/load";
import { go, Place, setQuery, to } from "../lib/router";
import { fromLocalField, Time, toLocalField } from "../lib/time";
import { usePortal, useWords } from "./context";
import { EndpointForm } from "./endpoint_form";
import { day_ms, successRate } from "./endpoints";
import { isOver, ReplayDialog, ReplayProgress } from "./replay";
import { Secret } from "./secret";
import { DeliveryWord, EndpointWord, Reasons } from "./status";
import { Attempt, AttemptedMessage, Endpoint, EndpointState, Stats } from "./webhooks";

interface Overview {
  endpoint: Endpoint;
  state: EndpointState;
  stats: Stats;
}

type Open = "edit" | "remove" | "resume" | "example" | "replay";
const look_again_ms = 5_000;

export function EndpointView({ id, place }: { id: string; place: Place }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const [open, setOpen] = useState<Open>();
  const [replays, setReplays] = useState<string[]>([]);
  const [turn, setTurn] = useState(0);
  const overview = useLoad<Overview>(
    async (signal) => {
      const [endpoint, state, stats] = await Promise.all([
        webhooks.endpoint(id, signal),
        webhooks.state(id, signal),
        webhooks.stats(id, new Date(Date.now() - day_ms), signal),
      ]);
      return { endpoint, state, stats };
    },
    [id],
  );
  useEvery(look_again_ms, overview.again);
  // One that somebody started before, here or in another window.
  useLoad(async (signal) => {
    const running = (await webhooks.replays(signal)).filter((one) => !isOver(one) && (one.endpoints?.includes(id) ?? true));
    setReplays((known) => [...known, ...running.map((one) => one.id).filter((one) => !known.includes(one))]);
  }, [id]);
  const close = () => setOpen(undefined);
  const changed = () => {
    close();
    overview.again();
    setTurn((old) => old + 1);
  };
  return (
    <>
      <p>
        <a href={to()}>← {t("nav.endpoints")}</a>
      </p>
      <Await from={overview}>
        {(data) => (
          <>
            <Head {...data} open={setOpen} onChanged={changed} />
            {replays.map((one) => (
              <ReplayProgress
                key={one}
                id={one}
                onOver={() => {
                  overview.again();
                  setTurn((old) => old + 1);
                }}
                onDismiss={() => setReplays(replays.filter((other) => other !== one))}
              />
            ))}
            <Waiting {...data} />
            <Attempts id={id} place={place} turn={turn} />
            <Secret endpoint={id} />
            {open === "edit" && <EndpointForm endpoint={data.endpoint} onClose={close} onDone={changed} />}
            {open === "remove" && <Remove endpoint={data.endpoint} onClose={close} />}
            {open === "resume" && <Resume {...data} onClose={close} onDone={changed} />}
            {open === "example" && <SendExample id={id} onClose={close} onDone={changed} />}
            {open === "replay" && (
              <ReplayDialog
                endpoint={id}
                onClose={close}
                onStarted={(started) => {
                  setReplays([started.id, ...replays]);
                  close();
                }}
              />
            )}
          </>
        )}
      </Await>
    </>
  );
}

function Head({ endpoint, state, stats, open, onChanged }: Overview & { open: (what: Open) => void; onChanged: () => void }) {
  const { t, number, percent } = useWords();
  const { webhooks, mayManage, maySend } = usePortal();
  const say = useSay();
  const rate = successRate(stats);
  const stopped = state.disabled || state.paused;
  const pause = async () => {
    try {
      await webhooks.pause(endpoint.id);
    } catch {
      say(t("lib.failed"));
    }
    onChanged();
  };
  return (
    <section className="card">
      <h1>{endpoint.url}</h1>
      {endpoint.description && <p>{endpoint.description}</p>}
      <p>
        <EndpointWord endpoint={endpoint} state={state} />{" "}
        <span className="tags">
          {(endpoint.eventTypes ?? [t("events.all")]).map((one) => (
            <span className="tag" key={one}>
              {one}
            </span>
          ))}
          {(endpoint.channels ?? []).map((one) => (
            <span className="tag" key={"#" + one}>
              #{one}
            </span>
          ))}
        </span>
      </p>
      <Figures
        items={[
          [t("endpoint.rate24"), rate === undefined ? "–" : percent(rate)],
          [t("endpoint.held"), number(state.held.messages)],
          [t("endpoint.waiting"), number(state.waiting)],
          [t("endpoint.flight"), number(state.inFlight)],
        ]}
      />
      <div className="row actions">
        {mayManage && <Button onClick={() => open("edit")}>{t("endpoint.edit")}</Button>}
        {mayManage && !stopped && <Button onClick={pause}>{t("endpoint.pause")}</Button>}
        {mayManage && stopped && (
          <Button kind="primary" onClick={() => open("resume")}>
            {t("endpoint.resume")}
          </Button>
        )}
        {maySend && !state.disabled && <Button onClick={() => open("example")}>{t("example.send")}</Button>}
        {maySend && <Button onClick={() => open("replay")}>{t("replay.title")}</Button>}
        {mayManage && (
          <Button kind="danger" onClick={() => open("remove")}>
            {t("endpoint.remove")}
          </Button>
        )}
      </div>
    </section>
  );
}

function Waiting({ state }: Overview) {
  const { t } = useWords();
  if (state.waiting + state.held.messages === 0 && !state.disabled && !state.paused) return null;
  return (
    <section className="card" aria-labelledby="why">
      <h2 id="why">{t("why.title")}</h2>
      <Reasons state={state} />
      {state.held.oldest && (
        <p className="quiet">
          {t("why.oldest")} <Time at={state.held.oldest} />
        </p>
      )}
    </section>
  );
}

// ---- Attempts ----

const page_size = 50;

function Attempts({ id, place, turn }: { id: string; place: Place; turn: number }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const status = place.query.get("status") ?? "";
  const type = place.query.get("type") ?? "";
  const after = place.query.get("after") ?? "";
  const before = place.query.get("before") ?? "";
  const waiting = status === "waiting";
  const [count, setCount] = useState(1);
  const catalogue = useLoad((signal) => webhooks.eventTypes(false, signal), []);
  const query = { event_types: type || undefined, after: after || undefined, before: before || undefined, limit: page_size };
  const attempts = useLoad(
    async (signal) => {
      if (waiting) return { found: [] as Attempt[], done: true };
      const found: Attempt[] = [];
      let iterator: string | undefined;
      let done = false;
      for (let i = 0; i < count && !done; ++i) {
        const page = await webhooks.attempts(id, { ...query, status, iterator }, signal);
        found.push(...page.data);
        iterator = page.iterator ?? undefined;
        done = page.done || !iterator;
      }
      return { found, done };
    },
    [id, status, type, after, before, turn],
  );
  // Rows do not move under the reader's hand: what is new is counted, and waits.
  const [fresh, setFresh] = useState(0);
  const newest = attempts.data?.found[0]?.id;
  useEffect(() => setFresh(0), [newest, waiting]);
  useEvery(waiting || !newest || before ? null : look_again_ms, () => {
    webhooks.attempts(id, { ...query, status, iterator: "-" + newest }).then(
      (page) => setFresh(page.data.length),
      () => undefined,  // the next look will tell; what is shown is still true
    );
  });
  const held = useLoad(
    async (signal) => {
      if (!waiting) return [];
      const pages = await Promise.all([1, 3].map((one) => webhooks.messagesOf(id, { ...query, status: one }, signal)));
      return pages.flatMap((page) => page.data).sort((a, b) => b.timestamp.localeCompare(a.timestamp));
    },
    [id, waiting, type, after, before, turn],
  );
  const types = (catalogue.data ?? []).map((one): [string, string] => [one.name, one.name]);
  if (type && !types.some(([name]) => name === type)) types.push([type, type]);
  return (
    <section className="card" aria-labelledby="attempts">
      <div className="row apart">
        <h2 id="attempts">{t("attempts.title")}</h2>
        <Button
          onClick={() => {
            attempts.again();
            held.again();
          }}
        >
          {t("attempts.refresh")}
        </Button>
      </div>
      <div className="filters">
        <Choice
          label={t("attempts.state")}
          name="filter-status"
          value={status}
          set={(value) => setQuery({ status: value })}
          options={[
            ["", t("attempts.every")],
            ["0", t("delivery.success")],
            ["2", t("attempts.failed")],
            ["waiting", t("attempts.waiting")],
          ]}
        />
        <Choice
          label={t("attempts.type")}
          name="filter-type"
          value={type}
          set={(value) => setQuery({ type: value })}
          options={[["", t("attempts.every.type")], ...types]}
        />
        <TextField
          label={t("attempts.after")}
          name="filter-after"
          type="datetime-local"
          value={after && toLocalField(new Date(after))}
          set={(value) => setQuery({ after: fromLocalField(value) })}
        />
        <TextField
          label={t("attempts.before")}
          name="filter-before"
          type="datetime-local"
          value={before && toLocalField(new Date(before))}
          set={(value) => setQuery({ before: fromLocalField(value) })}
        />
      </div>
      {waiting ? (
        <Held from={held} />
      ) : (
        <Await from={attempts}>
          {({ found, done }) =>
            found.length === 0 ? (
              <Empty title={t("attempts.none")}>
                <p>{t(status || type || after || before ? "attempts.none.filter" : "attempts.none.how")}</p>
              </Empty>
            ) : (
              <>
                <Chart attempts={found} />
                <div role="status">
                  {fresh > 0 && (
                    <Button onClick={attempts.again}>
                      <span aria-hidden="true">▲</span> {t("attempts.new", { n: fresh < page_size ? fresh : `${page_size}+` })}
                    </Button>
                  )}
                </div>
                <AttemptTable attempts={found} />
                {!done && (
                  <Button
                    onClick={() => {
                      setCount(count + 1);
                      attempts.again();
                    }}
                  >
                    {t("lib.more")}
                  </Button>
                )}
              </>
            )
          }
        </Await>
      )}
    </section>
  );
}

function AttemptTable({ attempts }: { attempts: Attempt[] }) {
  const { t, duration } = useWords();
  return (
    <Table
      caption={t("attempts.title")}
      rows={attempts}
      id={(one) => one.id}
      columns={[
        { title: t("attempts.state"), cell: (one) => <DeliveryWord status={one.status} /> },
        {
          title: t("attempts.message"),
          cell: (one) => <a href={to("messages", one.msgId)}>{one.msg?.eventType ?? one.msgId}</a>,
        },
        { title: t("attempts.answer"), cell: (one) => one.responseStatusCode || t("attempts.noanswer") },
        { title: t("attempts.at"), cell: (one) => <Time at={one.timestamp} /> },
        { title: t("attempts.took"), cell: (one) => duration(one.responseDurationMs), end: true },
      ]}
    />
  );
}

function Held({ from }: { from: Loaded<AttemptedMessage[]> }) {
  const { t } = useWords();
  return (
    <Await from={from}>
      {(messages) =>
        messages.length === 0 ? (
          <Empty title={t("waiting.none")} />
        ) : (
          <Table
            caption={t("attempts.waiting")}
            rows={messages}
            id={(one) => one.id}
            columns={[
              { title: t("attempts.state"), cell: (one) => <DeliveryWord status={one.status} /> },
              { title: t("attempts.message"), cell: (one) => <a href={to("messages", one.id)}>{one.eventType}</a> },
              { title: t("message.at"), cell: (one) => <Time at={one.timestamp} /> },
              { title: t("message.next"), cell: (one) => <Time at={one.nextAttempt} /> },
            ]}
          />
        )
      }
    </Await>
  );
}

const buckets = 24;

function median(values: number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : undefined;
}

/** Of what the table shows, in equal parts of the time up to the newest: of a minute at least. */
function Chart({ attempts }: { attempts: Attempt[] }) {
  const { t, number, percent, duration } = useWords();
  const times = attempts.map((one) => new Date(one.timestamp).getTime());
  const end = Math.max(...times) + 1;
  const size = Math.max(60_000, Math.ceil((end - Math.min(...times)) / buckets));
  const first = end - buckets * size;
  const parts = Array.from({ length: buckets }, (): Attempt[] => []);
  attempts.forEach((one, i) => parts[Math.floor((times[i] - first) / size)].push(one));
  const bars = parts.map((part, i): Bucket => {
    const good = part.filter((one) => one.status === 0).length;
    const answered = part.filter((one) => one.responseStatusCode > 0).map((one) => one.responseDurationMs);
    return { from: new Date(first + i * size), good, bad: part.length - good, took: median(answered) };
  });
  const good = attempts.filter((one) => one.status === 0).length;
  const took = median(attempts.filter((one) => one.responseStatusCode > 0).map((one) => one.responseDurationMs));
  const summary = t("chart.summary", {
    n: number(attempts.length),
    rate: percent(good / attempts.length),
    took: took === undefined ? "–" : duration(took),
  });
  const words = { good: t("delivery.success"), bad: t("attempts.failed"), took: t("chart.took"), from: t("chart.from") };
  return <AttemptsChart buckets={bars} words={words} summary={summary} />;
}

// ---- Dialogs ----

function Remove({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const say = useSay();
  return (
    <Dialog title={t("endpoint.remove")} onClose={onClose}>
      <p>{t("remove.about", { url: endpoint.url })}</p>
      <Form
        danger
        submit={t("endpoint.remove")}
        onCancel={onClose}
        work={async () => {
          await webhooks.remove(endpoint.id);
          say(t("remove.done"));
          go();
        }}
      >
        {() => null}
      </Form>
    </Dialog>
  );
}

function Resume({ endpoint, state, onClose, onDone }: Overview & { onClose: () => void; onDone: () => void }) {
  const { t, number } = useWords();
  const { webhooks } = usePortal();
  const say = useSay();
  const [mode, setMode] = useState<"deliver" | "skip">("deliver");
  const resume = async () => {
    // What is skipped goes first: opening the endpoint would let it out.
    if (state.paused || mode === "skip") await webhooks.resume(endpoint.id, mode);
    if (state.disabled) await webhooks.change(endpoint.id, { disabled: false });
    say(t("resume.done"));
    onDone();
  };
  const held = number(state.held.messages);
  return (
    <Dialog title={t("endpoint.resume")} onClose={onClose}>
      <Form submit={t("endpoint.resume")} onCancel={onClose} work={resume}>
        {() => (
          <fieldset>
            <legend>{t("resume.held", { n: held })}</legend>
            <Check radio name="mode" label={t("resume.deliver")} value={mode === "deliver"} set={() => setMode("deliver")} />
            <Check radio name="mode" label={t("resume.skip")} value={mode === "skip"} set={() => setMode("skip")} />
          </fieldset>
        )}
      </Form>
    </Dialog>
  );
}

const ping = "svix.ping";

function SendExample({ id, onClose, onDone }: { id: string; onClose: () => void; onDone: () => void }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const say = useSay();
  const [key, setKey] = useState(newKey);
  const [type, setType] = useState(ping);
  const catalogue = useLoad((signal) => webhooks.eventTypes(false, signal), []);
  return (
    <Dialog title={t("example.send")} onClose={onClose}>
      <p className="quiet">{t("example.about")}</p>
      <Await from={catalogue}>
        {(types) => (
          <Form
            submit={t("example.send")}
            onCancel={onClose}
            work={async () => {
              await webhooks.sendExample(id, type, key);
              say(t("example.sent"));
              onDone();
            }}
          >
            {(wrong) => (
              <Choice
                label={t("attempts.type")}
                name="example"
                value={type}
                set={(value) => {
                  setType(value);
                  setKey(newKey());
                }}
                error={wrong("eventType")}
                options={[[ping, t("example.ping")], ...types.map((one): [string, string] => [one.name, one.name])]}
              />
            )}
          </Form>
        )}
      </Await>
    </Dialog>
  );
}

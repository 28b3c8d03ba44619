/** Sends what was sent before once more: asks what, counts it, starts it, shows how far it is. */
import { useState } from "react";
import { ApiError, asNumber, newKey } from "../lib/api";
import { Await, Button, Check, Choice, Dialog, Failure, Figures, Form, State, TextField, Tone, useSay } from "../lib/kit";
import { asError, useEvery, useLoad } from "../lib/load";
import { fromLocalField, Time, toLocalField } from "../lib/time";
import { usePortal, useWords } from "./context";
import { EventTypePicker } from "./endpoint_form";
import { Replay, ReplayCount, ReplayWish } from "./webhooks";
import { Key } from "./words";

type What = "failed" | "all" | "canceled" | "missing";
const hour_ms = 3_600_000;

export function ReplayDialog(props: { endpoint: string; onClose: () => void; onStarted: (replay: Replay) => void }) {
  const { t, number } = useWords();
  const { webhooks } = usePortal();
  const say = useSay();
  const [key, setKey] = useState(newKey);
  const [since, setSince] = useState(() => toLocalField(new Date(Date.now() - 24 * hour_ms)));
  const [what, setWhat] = useState<What>("failed");
  const [rate, setRate] = useState("50");
  const [some, setSome] = useState(false);
  const [types, setTypes] = useState<string[]>([]);
  const [count, setCount] = useState<ReplayCount>();
  const [error, setError] = useState<ApiError>();
  const catalogue = useLoad((signal) => webhooks.eventTypes(false, signal), []);

  const wish = (): ReplayWish => {
    const status = { failed: ["fail"], canceled: ["canceled"], all: [], missing: [] }[what];
    return {
      since: fromLocalField(since) ?? "",
      filter: { status, ...(some && types.length ? { eventTypes: types } : {}) },
      missingOnly: what === "missing",
      ...(rate.trim() ? { rate: asNumber(rate) } : {}),
    };
  };
  /** Another wish: what was counted is not what would be sent, and a key belongs to one wish. */
  const changes = <T,>(set: (value: T) => void) => (value: T) => {
    set(value);
    setCount(undefined);
    setKey(newKey());
  };
  const look = async () => {
    try {
      setCount(await webhooks.countReplay(props.endpoint, wish()));
      setError(undefined);
    } catch (thrown) {
      setError(asError(thrown));
    }
  };

  return (
    <Dialog title={t("replay.title")} onClose={props.onClose}>
      <p className="quiet">{t("replay.about")}</p>
      <Form
        submit={count ? t("replay.start.count", { n: number(count.matched) }) : t("replay.start")}
        disabled={count?.matched === 0}
        onCancel={props.onClose}
        extra={<Button onClick={look}>{t("replay.count")}</Button>}
        work={async () => {
          const started = await webhooks.startReplay(props.endpoint, wish(), key);
          say(t("replay.started"));
          props.onStarted(started);
        }}
      >
        {(wrong) => (
          <>
            <TextField
              label={t("replay.since")}
              type="datetime-local"
              name="since"
              value={since}
              set={changes(setSince)}
              error={wrong("since")}
            />
            <Choice
              label={t("replay.what")}
              name="what"
              value={what}
              set={changes((value: string) => setWhat(value as What))}
              error={wrong("filter")}
              options={[
                ["failed", t("replay.what.failed")],
                ["all", t("replay.what.all")],
                ["missing", t("replay.what.missing")],
                ["canceled", t("replay.what.canceled")],
              ]}
            />
            {catalogue.data && catalogue.data.length > 0 && (
              <fieldset>
                <legend>{t("form.events")}</legend>
                <Check name="some" label={t("form.events.some")} value={some} set={changes(setSome)} />
                {some && <EventTypePicker types={catalogue.data} chosen={types} set={changes(setTypes)} />}
              </fieldset>
            )}
            <TextField
              label={t("replay.rate")}
              hint={t("replay.rate.hint")}
              name="rate"
              inputMode="decimal"
              value={rate}
              set={changes(setRate)}
              error={wrong("rate")}
            />
            <div role="status" className="count">
              {count && (
                <p>
                  <strong>{t("replay.counted", { n: number(count.matched) + (count.complete === false ? "+" : "") })}</strong>{" "}
                  {count.oldest && (
                    <span className="quiet">
                      <Time at={count.oldest} exact /> – <Time at={count.newest} exact />
                    </span>
                  )}
                </p>
              )}
            </div>
            {error && <Failure error={error} />}
          </>
        )}
      </Form>
    </Dialog>
  );
}

const tones: Record<Replay["status"], [Tone, Key]> = {
  running: ["busy", "replay.running"],
  paused: ["off", "replay.paused"],
  finished: ["good", "replay.finished"],
  canceled: ["off", "replay.canceled"],
  failed: ["bad", "replay.failed"],
};
export const isOver = (replay: Replay) => replay.status !== "running" && replay.status !== "paused";
const look_again_ms = 1_000;

export function ReplayProgress({ id, onOver, onDismiss }: { id: string; onOver: () => void; onDismiss: () => void }) {
  const { t, number } = useWords();
  const { webhooks, maySend } = usePortal();
  const [error, setError] = useState<ApiError>();
  const replay = useLoad(async (signal) => {
    const now = await webhooks.replay(id, signal);
    if (isOver(now)) onOver();
    return now;
  }, [id]);
  const over = replay.data !== undefined && isOver(replay.data);
  useEvery(over ? null : look_again_ms, () => !replay.loading && replay.again());
  const steer = async (what: "pause" | "resume" | "cancel") => {
    try {
      await webhooks.steerReplay(id, what);
      setError(undefined);
    } catch (thrown) {
      setError(asError(thrown));
    }
    replay.again();
  };
  return (
    <section className="card" aria-labelledby={`replay-${id}`} data-replay={id}>
      <h2 id={`replay-${id}`}>{t("replay.title")}</h2>
      <Await from={replay}>
        {(now) => (
          <>
            <p>
              <State tone={tones[now.status][0]}>{t(tones[now.status][1])}</State>{" "}
              {now.eta && !isOver(now) && (
                <span className="quiet">
                  {t("replay.eta")} <Time at={now.eta} />
                </span>
              )}
            </p>
            <progress max={Math.max(1, now.matched)} value={now.succeeded + now.failed + now.skipped} aria-label={t("replay.title")} />
            <Figures
              items={[
                [t("replay.matched"), number(now.matched)],
                [t("replay.succeeded"), number(now.succeeded)],
                [t("replay.failures"), number(now.failed)],
                [t("replay.skipped"), number(now.skipped)],
              ]}
            />
            {error && <Failure error={error} />}
            <div className="row">
              {maySend && now.status === "running" && <Button onClick={() => steer("pause")}>{t("replay.pause")}</Button>}
              {maySend && now.status === "paused" && <Button onClick={() => steer("resume")}>{t("replay.resume")}</Button>}
              {maySend && !isOver(now) && (
                <Button kind="danger" onClick={() => steer("cancel")}>
                  {t("replay.cancel")}
                </Button>
              )}
              {isOver(now) && <Button onClick={onDismiss}>{t("lib.dismiss")}</Button>}
            </div>
          </>
        )}
      </Await>
    </section>
  );
}

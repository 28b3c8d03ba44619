/** States in words: of an endpoint, of a delivery, and why something waits. */
import { State, Tone } from "../lib/kit";
import { Time } from "../lib/time";
import { useWords } from "./context";
import { Endpoint, EndpointState, Status } from "./webhooks";
import { Key } from "./words";

export function EndpointWord({ endpoint, state }: { endpoint: Endpoint; state?: EndpointState }) {
  const { t, moment } = useWords();
  if (state?.disabled ?? endpoint.disabled) {
    const reason = state?.disabledReason;
    if (reason === "gone") return <State tone="bad">{t("state.gone")}</State>;
    if (reason === "failing") return <State tone="bad">{t("state.stopped")}</State>;
    return <State tone="off">{t("state.disabled")}</State>;
  }
  if (state?.paused) return <State tone="off">{t("state.paused")}</State>;
  if (state?.failingSince) {
    return <State tone="warn">{t("state.failing", { at: moment(new Date(state.failingSince)) })}</State>;
  }
  return <State tone="good">{t("state.active")}</State>;
}

const deliveries: Record<Status, [Tone, Key]> = {
  0: ["good", "delivery.success"],
  1: ["idle", "delivery.pending"],
  2: ["bad", "delivery.fail"],
  3: ["warn", "delivery.sending"],
  4: ["off", "delivery.canceled"],
};

export function DeliveryWord({ status }: { status: Status }) {
  const { t } = useWords();
  const [tone, key] = deliveries[status];
  return <State tone={tone}>{t(key)}</State>;
}

/** Names of gates in words; a gate without words is shown as the server calls it. */
const gates: [RegExp, Key][] = [
  [/pause/, "gate.paused"],
  [/disabled/, "gate.disabled"],
  [/circuit/, "gate.circuit"],
  [/key|secret|sign/, "gate.signing"],
  [/retry.?after|throttled/, "gate.throttled"],
  [/rate/, "gate.rate"],
  [/parallel/, "gate.parallelism"],
  [/order/, "gate.order"],
];

export function Reasons({ state }: { state: EndpointState }) {
  const { t } = useWords();
  const told = state.gates ?? [];
  if (told.length === 0 && !state.throttledUntil) return <p className="quiet">{t("why.nothing")}</p>;
  return (
    <ul className="reasons">
      {told.map((one) => {
        const known = gates.find(([pattern]) => pattern.test(one.gate));
        return (
          <li key={one.gate}>
            {known ? t(known[1]) : one.gate}
            {one.opens && (
              <>
                {" "}
                ({t("why.opens")} <Time at={one.opens} />)
              </>
            )}
          </li>
        );
      })}
      {state.throttledUntil && !told.some((one) => /retry.?after|throttled/.test(one.gate)) && (
        <li>
          {t("gate.throttled")} ({t("why.opens")} <Time at={state.throttledUntil} />)
        </li>
      )}
    </ul>
  );
}

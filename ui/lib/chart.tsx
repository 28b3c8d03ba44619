/** Attempts over time: bars of what succeeded and failed, and how long answers took. SVG without a library: a
 *  chart library would be as large as everything else together. */
import { useSpeaker } from "./i18n";
import { Table } from "./kit";

export interface Bucket {
  from: Date;
  good: number;
  bad: number;
  /** Median, in milliseconds; undefined: there was no answer. */
  took?: number;
}

const width = 720;
const height = 160;
const foot = 18;

export function AttemptsChart(props: { buckets: Bucket[]; words: { good: string; bad: string; took: string; from: string }; summary: string }) {
  const { t, number, duration, moment } = useSpeaker();
  const { buckets, words } = props;
  const most = Math.max(1, ...buckets.map((one) => one.good + one.bad));
  const longest = Math.max(1, ...buckets.map((one) => one.took ?? 0));
  const step = width / Math.max(1, buckets.length);
  const room = height - foot;
  const points = buckets.flatMap((one, i) =>
    one.took === undefined ? [] : [[step * (i + 0.5), room - (one.took / longest) * (room - 8) - 2]],
  );
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={props.summary}>
        <line x1="0" x2={width} y1={room} y2={room} className="axis" />
        {buckets.map((one, i) => {
          const good = (one.good / most) * (room - 4);
          const bad = (one.bad / most) * (room - 4);
          return (
            <g key={i}>
              <title>{`${moment(one.from)}: ${words.good} ${number(one.good)}, ${words.bad} ${number(one.bad)}`}</title>
              <rect x={step * i + 1} width={step - 2} y={room - good} height={good} className="good" />
              <rect x={step * i + 1} width={step - 2} y={room - good - bad} height={bad} className="bad" />
            </g>
          );
        })}
        <polyline points={points.map((one) => one.join(",")).join(" ")} className="took" />
        {points.map(([x, y]) => (
          <circle key={x} cx={x} cy={y} r="2.5" className="took" />
        ))}
      </svg>
      <figcaption>
        <span className="key good" aria-hidden="true" /> {words.good} <span className="key bad" aria-hidden="true" /> {words.bad}{" "}
        <span className="key took" aria-hidden="true" /> {words.took} (≤ {duration(longest)})
        <p className="quiet">{props.summary}</p>
      </figcaption>
      <details>
        <summary>{t("lib.table")}</summary>
        <Table
          caption={props.summary}
          rows={buckets.filter((one) => one.good + one.bad > 0)}
          id={(one) => one.from.toISOString()}
          columns={[
            { title: words.from, cell: (one) => moment(one.from) },
            { title: words.good, cell: (one) => number(one.good), end: true },
            { title: words.bad, cell: (one) => number(one.bad), end: true },
            { title: words.took, cell: (one) => (one.took === undefined ? "–" : duration(one.took)), end: true },
          ]}
        />
      </details>
    </figure>
  );
}

/** Words by language. A page gives its tables; every key is in both, which the types see to. */
import { createContext, ReactNode, useContext, useMemo } from "react";

export type Lang = "en" | "ja";
export type Values = Record<string, string | number>;

export interface Speaker<Key extends string = string> {
  lang: Lang;
  /** The words of that key, with {name} replaced. */
  t: (key: Key, values?: Values) => string;
  number: (value: number) => string;
  percent: (share: number) => string;
  moment: (at: Date) => string;
  ago: (at: Date, now?: number) => string;
  duration: (ms: number) => string;
}

export function chooseLang(wanted: string | null): Lang {
  for (const one of [wanted, ...navigator.languages]) {
    if (one?.startsWith("ja")) return "ja";
    if (one?.startsWith("en")) return "en";
  }
  return "en";
}

function speaker(lang: Lang, words: Record<string, string>): Speaker {
  const number = new Intl.NumberFormat(lang, { maximumFractionDigits: 2 });
  const percent = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 1 });
  const moment = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" });
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" });
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(lang, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: 1 }).format(value);
  return {
    lang,
    t: (key, values = {}) =>
      (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)),
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    moment: (at) => moment.format(at),
    ago: (at, now = Date.now()) => {
      const seconds = (at.getTime() - now) / 1000;
      const [size, name] = units.find(([one]) => Math.abs(seconds) >= one) ?? [1, "second"];
      return relative.format(Math.round(seconds / size), name);
    },
    duration: (ms) => {
      const long = Math.max(0, ms);
      if (long < 1000) return unit(Math.round(long), "millisecond");
      const [size, name] = units.find(([one]) => long / 1000 >= one) ?? [1, "second"];
      return unit(long / 1000 / size, name);
    },
  };
}

const units: [number, "day" | "hour" | "minute" | "second"][] = [
  [86400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
];

const Current = createContext<Speaker>(speaker("en", {}));

export function Speak(props: { lang: Lang; words: Record<Lang, Record<string, string>>; children: ReactNode }) {
  const value = useMemo(() => speaker(props.lang, props.words[props.lang]), [props.lang, props.words]);
  return <Current.Provider value={value}>{props.children}</Current.Provider>;
}

export function useSpeaker<Key extends string = string>(): Speaker<Key> {
  return useContext(Current) as Speaker<Key>;
}

/** What lib/ itself says; a page's table has these, too. */
export const libWords = {
  en: {
    "lib.close": "Close",
    "lib.cancel": "Cancel",
    "lib.again": "Try again",
    "lib.loading": "Loading…",
    "lib.copy": "Copy",
    "lib.copied": "Copied",
    "lib.dismiss": "Dismiss",
    "lib.more": "Show more",
    "lib.table": "As a table",
    "lib.unreachable": "The server cannot be reached. Check your connection.",
    "lib.broken": "Something went wrong in this page.",
    "lib.forbidden": "Your link does not allow this.",
    "lib.request": "Request {id}",
    "lib.failed": "This did not work",
    "lib.skip": "Skip to the content",
  },
  ja: {
    "lib.close": "閉じる",
    "lib.cancel": "キャンセル",
    "lib.again": "再試行",
    "lib.loading": "読み込み中…",
    "lib.copy": "コピー",
    "lib.copied": "コピーしました",
    "lib.dismiss": "閉じる",
    "lib.more": "もっと見る",
    "lib.table": "表で見る",
    "lib.unreachable": "サーバーに接続できません。ネットワークを確認してください。",
    "lib.broken": "このページで問題が起きました。",
    "lib.forbidden": "このリンクでは許可されていない操作です。",
    "lib.request": "リクエスト {id}",
    "lib.failed": "うまくいきませんでした",
    "lib.skip": "本文へ移動",
  },
};

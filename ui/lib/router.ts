/** The fragment is the state of the page: "#/endpoints/ep_1?status=2". Back, reload and links work. */
import { useEffect, useState } from "react";

export interface Place {
  parts: string[];
  query: URLSearchParams;
}

function here(): Place {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path ? path.split("/").filter(Boolean).map(decode) : [];
  return { parts, query: new URLSearchParams(query ?? "") };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function to(...parts: string[]): string {
  return "#/" + parts.map(encodeURIComponent).join("/");
}

export function go(...parts: string[]) {
  location.hash = to(...parts);
}

/** Changes the query of this place without a step of its own in the history. "" and undefined take a name out. */
export function setQuery(change: Record<string, string | undefined>) {
  const { parts, query } = here();
  for (const [name, value] of Object.entries(change)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  history.replaceState(null, "", to(...parts) + (text ? "?" + text : ""));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const moved = () => setPlace(here());
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  return place;
}

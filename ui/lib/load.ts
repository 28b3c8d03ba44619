/** What a view has loaded. While it is loaded again, the old data stays. */
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "./api";

export interface Loaded<T> {
  data?: T;
  error?: ApiError;
  loading: boolean;
  again: () => void;
}

/** load is called when one of `needs` changes, and the answer to an older call is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, needs: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data?: T; error?: ApiError; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(needs);
  const shown = useRef(key);
  useEffect(() => {
    const stop = new AbortController();
    const same = shown.current === key;
    shown.current = key;
    setState((old) => ({ data: same ? old.data : undefined, loading: true }));
    load(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data, loading: false }),
      (error) => !stop.signal.aborted && setState((old) => ({ data: old.data, error: asError(error), loading: false })),
    );
    return () => stop.abort();
  }, [key, turn]);
  const again = useCallback(() => setTurn((old) => old + 1), []);
  return { ...state, again };
}

export function asError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "broken", String(error), "", []);
}

/** Calls `work` every so often while the page is looked at. */
export function useEvery(ms: number | null, work: () => void) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (ms === null) return undefined;
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

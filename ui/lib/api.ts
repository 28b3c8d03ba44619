/** Calls to the server, and its errors as one kind: Problem Details of the own API, and the two forms that
 *  clients of Svix know. */

export interface FieldError {
  /** "url", "headers/X-A"; "" for the whole request. */
  field: string;
  text: string;
}

export class ApiError extends Error {
  constructor(
    /** 0: there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string,
    readonly fields: FieldError[],
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | string[] | undefined>;

const patience_ms = 30_000;

/** A key for a write: sent again after a lost answer, it takes effect once. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
}

/** A path from parts that are texts of others. */
export function path(...parts: string[]): string {
  return parts.map(encodeURIComponent).join("/");
}

export class Api {
  constructor(
    /** Of the server, relative to the page: the server may be behind a prefix. */
    private readonly base: string,
    private readonly token: string,
    /** Called when the server does not know the token any more. */
    private readonly onRefused: () => void,
  ) {}

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return this.call("GET", path + asText(query), undefined, undefined, signal).then((a) => a.json());
  }

  text(path: string, signal?: AbortSignal): Promise<string> {
    return this.call("GET", path, undefined, undefined, signal).then((a) => a.text());
  }

  /** key: of newKey(), for writes that must not happen twice. */
  async send<T>(method: string, path: string, body?: unknown, key?: string): Promise<T> {
    const answer = await this.call(method, path, body, key);
    const text = answer.status === 204 ? "" : await answer.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  private async call(method: string, path: string, body?: unknown, key?: string, signal?: AbortSignal) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), patience_ms);
    const given_up = () => stop.abort();
    signal?.addEventListener("abort", given_up);
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    let answer: Response;
    try {
      answer = await fetch(this.base + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: stop.signal,
        credentials: "omit",
        cache: "no-store",
      });
    } catch {
      throw new ApiError(0, signal?.aborted ? "aborted" : "unreachable", "", "", []);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", given_up);
    }
    if (answer.ok) return answer;
    if (answer.status === 401) this.onRefused();
    throw await toError(answer);
  }
}

function asText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) continue;
    pairs.set(name, String(value));
  }
  const text = pairs.toString();
  return text ? "?" + text : "";
}

interface Told {
  code?: string;
  title?: string;
  detail?: string | { loc: string[]; msg: string }[];
  request_id?: string;
  errors?: { pointer: string; detail: string }[];
}

async function toError(answer: Response): Promise<ApiError> {
  const told: Told = await answer.json().catch(() => ({}));
  const request = answer.headers.get("X-Request-Id") ?? told.request_id ?? "";
  let fields: FieldError[] = [];
  let message = told.title ?? "";
  if (Array.isArray(told.detail)) {
    fields = told.detail.map((one) => ({ field: one.loc.slice(1).join("/"), text: one.msg }));
    message = fields.map((one) => (one.field ? `${one.field}: ${one.text}` : one.text)).join(" · ");
  } else if (told.detail) {
    message = told.detail;
  }
  if (told.errors) {
    fields = told.errors.map((one) => ({ field: one.pointer.replace(/^#?\//, ""), text: one.detail }));
  }
  return new ApiError(answer.status, told.code ?? "", message || answer.statusText, request, fields);
}

/** What stands in a field for a number. What is none goes to the server as it is: it says what would be right. */
export function asNumber(text: string): number {
  const value = Number(text);
  return Number.isNaN(value) ? (text as unknown as number) : value;
}

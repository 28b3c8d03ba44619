/** The part of the API that an app token may call, as this page uses it. */
import { Api, newKey, path, Query } from "../lib/api";

export type Capability =
  | "ViewBase"
  | "ViewEndpointSecret"
  | "ManageEndpointSecret"
  | "ManageTransformations"
  | "CreateAttempts"
  | "ManageEndpoint";

export interface WhoAmI {
  type: "environment" | "app";
  appId?: string;
  capabilities?: Capability[];
  expiresAt?: string | null;
}

export interface Page<T> {
  data: T[];
  iterator: string | null;
  done: boolean;
}

export interface Endpoint {
  id: string;
  url: string;
  description: string;
  disabled: boolean;
  eventTypes: string[] | null;
  channels: string[] | null;
  throttleRate: number | null;
  createdAt: string;
  updatedAt: string;
}

export interface EndpointState {
  disabled: boolean;
  disabledReason?: string | null;
  paused: boolean;
  failingSince?: string | null;
  consecutiveFailures: number;
  circuit?: { state: "closed" | "open" | "half-open"; until?: string | null } | null;
  held: { messages: number; bytes: number; oldest?: string | null };
  waiting: number;
  inFlight: number;
  throttledUntil?: string | null;
  gates: { gate: string; opens?: string | null }[];
}

export interface Stats {
  success: number;
  fail: number;
  pending: number;
  sending: number;
  canceled: number;
}

export interface EventType {
  name: string;
  description: string;
  archived: boolean;
  deprecated: boolean;
  groupName?: string | null;
  schemas?: Record<string, Record<string, unknown>> | null;
}

export interface Message {
  id: string;
  eventType: string;
  eventId?: string | null;
  channels?: string[] | null;
  tags?: string[] | null;
  timestamp: string;
  deliverAt?: string | null;
}

/** 0 success, 1 pending, 2 fail, 3 sending, 4 canceled. */
export type Status = 0 | 1 | 2 | 3 | 4;

export interface Attempt {
  id: string;
  msgId: string;
  endpointId: string;
  url: string;
  timestamp: string;
  response: unknown;
  responseStatusCode: number;
  responseDurationMs: number;
  status: Status;
  triggerType: 0 | 1;
  msg?: Message | null;
}

export type AttemptedMessage = Message & { status: Status; nextAttempt?: string | null };
export type Destination = { id: string; url: string; description: string; disabled: boolean; status: Status; nextAttempt?: string | null };

export interface Headers {
  headers: Record<string, string>;
  sensitive: string[];
}

export interface ReplayWish {
  since: string;
  filter: { eventTypes?: string[]; status?: string[] };
  missingOnly: boolean;
  rate?: number;
}

export interface ReplayCount {
  matched: number;
  /** false: there are more than it has looked at. */
  complete?: boolean;
  bytes: number;
  oldest?: string | null;
  newest?: string | null;
}

export interface Replay {
  id: string;
  status: "running" | "paused" | "finished" | "canceled" | "failed";
  matched: number;
  queued: number;
  succeeded: number;
  failed: number;
  skipped: number;
  rate?: number | null;
  eta?: string | null;
  endpoints?: string[];
}

export interface EndpointIn {
  url: string;
  description: string;
  eventTypes: string[] | null;
  channels: string[] | null;
  throttleRate: number | null;
}

export class Webhooks {
  private readonly app: string;
  private readonly own: string;
  constructor(private readonly api: Api, private readonly appId: string) {
    this.app = path("api", "v1", "app", appId);
    this.own = path("api", "v1", "webhooks", "app", appId);
  }

  static whoAmI(api: Api): Promise<WhoAmI> {
    return api.get("api/v1/auth/whoami");
  }

  // ---- Endpoints ----

  endpoints(iterator?: string, signal?: AbortSignal): Promise<Page<Endpoint>> {
    return this.api.get(`${this.app}/endpoint`, { limit: 20, iterator }, signal);
  }
  endpoint(id: string, signal?: AbortSignal): Promise<Endpoint> {
    return this.api.get(this.at(id), {}, signal);
  }
  state(id: string, signal?: AbortSignal): Promise<EndpointState> {
    return this.api.get(`${this.ownAt(id)}/state`, {}, signal);
  }
  stats(id: string, since: Date, signal?: AbortSignal): Promise<Stats> {
    return this.api.get(`${this.at(id)}/stats`, { since: since.toISOString() }, signal);
  }
  create(endpoint: EndpointIn & { headers?: Record<string, string> }, key: string): Promise<Endpoint> {
    return this.api.send("POST", `${this.app}/endpoint`, endpoint, key);
  }
  change(id: string, change: Partial<EndpointIn & { disabled: boolean }>): Promise<Endpoint> {
    return this.api.send("PATCH", this.at(id), change);
  }
  remove(id: string): Promise<void> {
    return this.api.send("DELETE", this.at(id));
  }
  headers(id: string, signal?: AbortSignal): Promise<Headers> {
    return this.api.get(`${this.at(id)}/headers`, {}, signal);
  }
  changeHeaders(id: string, headers: Record<string, string>, deleteHeaders: string[]): Promise<void> {
    return this.api.send("PATCH", `${this.at(id)}/headers`, { headers, deleteHeaders });
  }
  pause(id: string): Promise<void> {
    return this.api.send("POST", `${this.ownAt(id)}/pause`, {}, newKey());
  }
  resume(id: string, mode: "deliver" | "skip"): Promise<{ released?: number; canceled?: number }> {
    return this.api.send("POST", `${this.ownAt(id)}/resume`, { mode }, newKey());
  }
  secret(id: string): Promise<{ key: string }> {
    return this.api.get(`${this.at(id)}/secret`);
  }
  rotate(id: string, gracePeriodSeconds: number, key: string): Promise<void> {
    return this.api.send("POST", `${this.at(id)}/secret/rotate`, { key: null, gracePeriodSeconds }, key);
  }
  sendExample(id: string, eventType: string, key: string): Promise<Message> {
    return this.api.send("POST", `${this.at(id)}/send-example`, { eventType }, key);
  }

  // ---- Messages and attempts ----

  attempts(id: string, query: Query, signal?: AbortSignal): Promise<Page<Attempt>> {
    return this.api.get(`${this.app}/attempt/endpoint/${path(id)}`, { ...query, with_content: false, with_msg: true, expanded_statuses: true }, signal);
  }
  messagesOf(id: string, query: Query, signal?: AbortSignal): Promise<Page<AttemptedMessage>> {
    return this.api.get(`${this.at(id)}/msg`, { ...query, with_content: false, expanded_statuses: true }, signal);
  }
  message(id: string, signal?: AbortSignal): Promise<Message> {
    return this.api.get(`${this.app}/msg/${path(id)}`, { with_content: false }, signal);
  }
  /** The bytes as they are delivered: read as JSON here, its numbers would be rounded. */
  payload(id: string, signal?: AbortSignal): Promise<string> {
    return this.api.text(`${this.app}/msg/${path(id)}/raw`, signal);
  }
  destinations(id: string, signal?: AbortSignal): Promise<Page<Destination>> {
    return this.api.get(`${this.app}/msg/${path(id)}/endpoint`, { limit: 50, expanded_statuses: true }, signal);
  }
  attemptsOfMessage(id: string, iterator?: string, signal?: AbortSignal): Promise<Page<Attempt>> {
    return this.api.get(`${this.app}/attempt/msg/${path(id)}`, { limit: 50, iterator, expanded_statuses: true }, signal);
  }
  resend(message: string, endpoint: string, key: string): Promise<unknown> {
    return this.api.send("POST", `${this.app}/msg/${path(message)}/endpoint/${path(endpoint)}/resend`, {}, key);
  }

  // ---- Event types ----

  eventTypes(content: boolean, signal?: AbortSignal): Promise<EventType[]> {
    return all((iterator) =>
      this.api.get<Page<EventType>>("api/v1/event-type", { limit: 250, iterator, with_content: content }, signal),
    );
  }

  // ---- Replays ----

  private wish(endpoint: string, wish: ReplayWish, dryRun: boolean) {
    return { app: this.appId, endpoints: [endpoint], ...wish, dryRun };
  }
  countReplay(endpoint: string, wish: ReplayWish): Promise<ReplayCount> {
    return this.api.send("POST", "api/v1/webhooks/replays", this.wish(endpoint, wish, true));
  }
  startReplay(endpoint: string, wish: ReplayWish, key: string): Promise<Replay> {
    return this.api.send("POST", "api/v1/webhooks/replays", this.wish(endpoint, wish, false), key);
  }
  replays(signal?: AbortSignal): Promise<Replay[]> {
    return this.api.get<{ replays: Replay[] }>("api/v1/webhooks/replays", {}, signal).then((page) => page.replays);
  }
  replay(id: string, signal?: AbortSignal): Promise<Replay> {
    return this.api.get(path("api", "v1", "webhooks", "replays", id), {}, signal);
  }
  steerReplay(id: string, what: "pause" | "resume" | "cancel"): Promise<Replay> {
    return this.api.send("POST", path("api", "v1", "webhooks", "replays", id, what), {}, newKey());
  }

  private at(id: string): string {
    return `${this.app}/endpoint/${path(id)}`;
  }
  private ownAt(id: string): string {
    return `${this.own}/endpoint/${path(id)}`;
  }
}

const pages_max = 40;

async function all<T>(page: (iterator?: string) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let iterator: string | undefined;
  for (let i = 0; i < pages_max; ++i) {
    const one = await page(iterator);
    found.push(...one.data);
    if (one.done || !one.iterator) break;
    iterator = one.iterator;
  }
  return found;
}

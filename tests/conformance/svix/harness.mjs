// What the tests of one area share: a server, a receiver, the official clients of both lines, and what is asserted everywhere.
import assert from "node:assert/strict";
import { createHmac, createPublicKey, verify } from "node:crypto";
import { after, before, it } from "node:test";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { ApiException, Svix, Webhook } from "svix";
import svix1 from "svix1";
import { Receiver } from "../lib/receiver.mjs";
import { PATIENCE_MS, Server, waitFor } from "../lib/server.mjs";
import "../lib/watch.mjs";

export { PATIENCE_MS, waitFor };

// The credentials of --dev are public by design.
export const DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";
export const LINES = ["2.5", "1.99"];
export const [SUCCESS, PENDING, FAIL, SENDING, CANCELED] = [0, 1, 2, 3, 4];
export const STATUS_TEXTS = ["success", "pending", "fail", "sending", "canceled"];

/** Delivery options: so many attempts, close behind each other. The official clients cannot set them. */
export const quick = (attempts, wait = 0.05) => ({
  retry: { delays: [0, ...Array.from({ length: attempts - 1 }, () => wait)], jitter: 0 },
});

const id = (prefix) => new RegExp(`^${prefix}_[0-9A-Za-z]{27}$`);
export const ID = Object.fromEntries(["app", "ep", "msg", "atmpt", "qtask", "integ", "rpl"].map((one) => [one, id(one)]));
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/;

/** The calls of 1.99 under the names that they have in 2.5. */
function renamed(api, names = {}) {
  return new Proxy(api, {
    get(of, name) {
      const value = of[names[name] ?? name];
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}

class Line {
  constructor(name, client) {
    const old = name === "1.99";
    const upsert = old ? { upsert: "update" } : {};
    Object.assign(this, { name, old, client });
    this.application = renamed(client.application, upsert);
    this.endpoint = renamed(client.endpoint, { ...upsert, ...(old && { setHeaders: "headersUpdate" }) });
    this.eventType = renamed(client.eventType, upsert);
    this.operational = renamed(client.operationalWebhook.endpoint, { ...upsert, ...(old && { setHeaders: "updateHeaders" }) });
    for (const same of ["authentication", "backgroundTask", "environment", "health", "integration", "message", "messageAttempt", "statistics"])
      this[same] = client[same];
    // webhooks-api 23: 2.x sends and reads `eventTypes`, 1.x `filterTypes`.
    this.filterName = old ? "filterTypes" : "eventTypes";
    this.Webhook = old ? svix1.Webhook : Webhook;
    this.messageInRaw = old ? svix1.messageInRaw : undefined;
  }

  filter(names) {
    return { [this.filterName]: names };
  }
}

/** Call inside describe(): starts everything before its tests, and ends it after them. */
export function world({ flags = [], dev = true, token = DEV_TOKEN } = {}) {
  const t = new World();
  before(async () => {
    t.server = new Server(flags, dev, token);
    t.receiver = await new Receiver().start();
    await t.server.start();
    t.svix = t.connect();
    t.lines = Object.fromEntries(LINES.map((name) => [name, t.line(name)]));
  });
  after(async () => {
    await t.server.close();
    await t.receiver.close();
  });
  return t;
}

/** A test for each line of the client. */
export function both(t, name, body) {
  for (const line of LINES) it(`${name} (svix ${line})`, () => body(t.lines[line]));
}

class World {
  #names = 0;

  /** A client of 2.5. It repeats nothing by itself, unless asked to. */
  connect(token = this.server.token, config = {}) {
    return new Svix(token, { serverUrl: this.server.url, retryScheduleInMs: [], ...config });
  }

  line(name, token = this.server.token, config = {}) {
    const Client = name === "1.99" ? svix1.Svix : Svix;
    return new Line(name, new Client(token, { serverUrl: this.server.url, retryScheduleInMs: [], ...config }));
  }

  hook(...answers) {
    return this.receiver.hook(...answers);
  }

  raw(method, target, options) {
    return this.server.raw(method, target, options);
  }

  /** A raw call under /api/v1 that must succeed: its JSON, or undefined where there is none. */
  async own(method, target, body = undefined, status = undefined) {
    const answer = await this.raw(method, `/api/v1${target}`, { body });
    const right = status === undefined ? answer.status < 300 : answer.status === status;
    assert.ok(right, `${method} ${target} answered ${answer.status} ${answer.text}`);
    return answer.text === "" ? undefined : answer.json();
  }

  /** A name that no other test of the file uses. */
  name(kind = "name") {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  // ---- What tests begin with ----

  async app(more = {}) {
    return (await this.svix.application.create({ name: this.name("customer"), ...more })).id;
  }

  endpoint(app, hook, more = {}) {
    return this.svix.endpoint.create(app, { url: hook.url ?? hook, ...more });
  }

  /** An application with one endpoint. */
  async customer({ answers = [], options, ...more } = {}) {
    const hook = this.hook(...answers);
    const app = await this.app();
    const ep = (await this.endpoint(app, hook, more)).id;
    if (options) await this.options(app, ep, options);
    return { app, ep, hook };
  }

  async eventType(name, more = {}) {
    await this.svix.eventType.create({ name, description: "", ...more });
    return name;
  }

  send(app, eventType = "user.created", payload = { hello: "world" }, more = {}) {
    return this.svix.message.create(app, { eventType, payload, ...more });
  }

  /** Changes the delivery options of an endpoint (own API, webhooks-api 15). */
  options(app, ep, patch) {
    return this.own("PATCH", `/webhooks/app/${app}/endpoint/${ep}/delivery`, patch, 200);
  }

  state(app, ep) {
    return this.own("GET", `/webhooks/app/${app}/endpoint/${ep}/state`, undefined, 200);
  }

  // ---- What came of it ----

  async attempts(app, msg, more = {}) {
    return (await this.svix.messageAttempt.listByMsg(app, msg, { withContent: true, ...more })).data;
  }

  /** Waits until the message has so many attempts; they, oldest first. */
  async waitAttempts(app, msg, count) {
    let seen = [];
    await waitFor(
      async () => (seen = await this.attempts(app, msg)).length >= count,
      () => `${count} attempts of ${msg}; there were ${JSON.stringify(seen)}`,
    );
    return seen.reverse();
  }

  /** One of the destinations of a message. The client does not ask for all statuses there: to it, canceled is done. */
  async delivery(app, msg, ep) {
    const { data } = await this.own("GET", `/app/${app}/msg/${msg}/endpoint?limit=250&expanded_statuses=true`);
    const found = data.find((one) => one.id === ep);
    return found && { ...found, nextAttempt: found.nextAttempt ? new Date(found.nextAttempt) : null };
  }

  /** Waits until the delivery has this status (a number). */
  async waitStatus(app, msg, ep, status) {
    let seen;
    await waitFor(
      async () => (seen = await this.delivery(app, msg, ep))?.status === status,
      () => `${msg} at ${ep} to be ${STATUS_TEXTS[status]}; it was ${JSON.stringify(seen)}`,
    );
    assert.equal(seen.statusText, STATUS_TEXTS[status]);
    return seen;
  }

  /** Waits until the delivery has failed and is to be tried again: when that will be is known. */
  async waitRetry(app, msg, ep) {
    let seen;
    await waitFor(
      async () => {
        seen = await this.delivery(app, msg, ep);
        return seen?.status === SENDING && seen.nextAttempt;
      },
      () => `a retry of ${msg} at ${ep}; it is ${JSON.stringify(seen)}`,
    );
    return seen;
  }

  async waitTask(task) {
    let seen;
    await waitFor(
      async () => (seen = await this.svix.backgroundTask.get(task)).status !== "running",
      () => `${task} to end; it is ${JSON.stringify(seen)}`,
    );
    assert.equal(seen.status, "finished", JSON.stringify(seen));
    return seen;
  }

  /** What was to start at once before this call has had its turn when it returns. */
  async settle() {
    const { app, hook } = (this.canary ??= await this.customer());
    for (let round = 0; round < 3; round += 1) {
      const count = hook.requests.length;
      await this.send(app, "canary");
      await hook.wait(count + 1);
    }
  }

  /** Everything that came to these hooks, once nothing more comes. */
  async quiet(...hooks) {
    await this.settle();
    return hooks.map((hook) => hook.requests.length);
  }

  // ---- Refusals on the wire ----

  /** Sends each row raw under /api/v1. Row: name, method, target, options of exchange, expected: a status, or a list of the
   *  places of a 422 ("body.url"), or [status, code]. */
  async refusals(rows) {
    const wrong = [];
    for (const [name, method, target, options, expected] of rows) {
      const answer = await this.raw(method, `/api/v1${target}`, options);
      const problem = problemOf(answer, expected);
      if (problem) wrong.push(`${name}: ${problem}`);
    }
    assert.deepEqual(wrong, []);
  }

  /** Bodies that are refused, each at one place. Row: body, places of the 422. */
  refusedBodies(method, target, rows) {
    return this.refusals(
      rows.map(([body, ...places]) => [JSON.stringify(body)?.slice(0, 100) ?? "none", method, target, { body }, places]),
    );
  }
}

/** What is wrong about an answer that should be a refusal; undefined if nothing is. */
export function problemOf(answer, expected) {
  const about = `answered ${answer.status} ${answer.text.slice(0, 300)}`;
  if (!answer.headers["content-type"]?.startsWith("application/json"))
    return `${about} as ${answer.headers["content-type"]}`;
  let body;
  try {
    body = answer.json();
  } catch {
    return `${about}, which is not JSON`;
  }
  const places = Array.isArray(expected) && expected.every((one) => typeof one === "string") ? expected : undefined;
  if (places) {
    if (answer.status !== 422) return `${about}, expected 422 at ${places}`;
    return problemOfPlaces(body, places, about);
  }
  const [status, code] = Array.isArray(expected) ? expected : [expected];
  if (answer.status !== status) return `${about}, expected ${status}`;
  if (status === 422) return problemOfPlaces(body, undefined, about);
  if (typeof body.code !== "string" || body.code === "" || typeof body.detail !== "string" || body.detail === "")
    return `${about}, expected code and detail`;
  if (code && body.code !== code) return `${about}, expected the code ${code}`;
  return undefined;
}

/** webhooks-api 1.3: a 422 has no code, and every broken field with its place, in the order of the fields. */
function problemOfPlaces(body, places, about) {
  if (body.code !== undefined || !Array.isArray(body.detail) || body.detail.length === 0)
    return `${about}, expected a list of errors`;
  for (const { loc, msg, type } of body.detail) {
    const texts = Array.isArray(loc) && loc.length > 0 && [...loc, msg, type].every((one) => typeof one === "string");
    if (!texts || msg === "" || type === "") return `${about}, expected loc, msg and type of text`;
  }
  const got = body.detail.map(({ loc }) => loc.join("."));
  if (places && got.join() !== places.join()) return `${about}, expected it to blame ${places}`;
  return undefined;
}

/** The client's call is refused with this status and code. */
export async function refused(call, status, code) {
  const error = await thrown(call);
  assert.equal(error.code, status, JSON.stringify(error.body));
  if (status < 500) {
    assert.ok(error.body.detail, JSON.stringify(error.body));
    if (code) assert.equal(error.body.code, code, JSON.stringify(error.body));
  }
  return error;
}

/** The client's call is refused with 422, and for exactly these fields ("body.url"). */
export async function invalid(call, ...places) {
  const error = await thrown(call);
  assert.equal(error.code, 422, JSON.stringify(error.body));
  assert.equal(problemOfPlaces(error.body, places, JSON.stringify(error.body)), undefined);
}

async function thrown(call) {
  const error = await call.then(
    (value) => assert.fail(`was not refused but answered ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  if (!(error instanceof ApiException) && !(error instanceof svix1.ApiException)) throw error;
  return error;
}

// ---- Signatures ----

/** The delivery is accepted by the receivers of all three packages. */
export function verified(request, secret) {
  for (const Verifier of [Webhook, svix1.Webhook, StandardWebhook]) {
    try {
      new Verifier(secret).verify(request.text, request.headers);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // It was accepted, and then read as JSON, which it need not be.
    }
  }
}

/** No receiver takes it with this secret. */
export function notVerified(request, secret) {
  for (const Verifier of [Webhook, svix1.Webhook, StandardWebhook])
    assert.throws(() => new Verifier(secret).verify(request.text, request.headers), { message: /No matching signature/ });
}

export function signedText(request, family = "svix") {
  return Buffer.concat([
    Buffer.from(`${request.headers[`${family}-id`]}.${request.headers[`${family}-timestamp`]}.`),
    request.body,
  ]);
}

export const signaturesOf = (request, family = "svix") => request.headers[`${family}-signature`].split(" ");

/** What the scheme v1 says, worked out anew: also for bodies that are no UTF-8. */
export function signV1(request, secret) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(signedText(request)).digest("base64")}`;
}

/** Does one of its v1a signatures belong to this public key (whpk_…)? */
export function verifiedV1a(request, key) {
  const raw = Buffer.from(key.replace(/^whpk_/, ""), "base64");
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  return signaturesOf(request)
    .filter((one) => one.startsWith("v1a,"))
    .some((one) => verify(null, signedText(request), publicKey, Buffer.from(one.slice(4), "base64")));
}

// ---- Times ----

/** A time of about now, give or take what a clock that follows another one slowly may differ. */
export function assertRecent(time) {
  assert.ok(time instanceof Date && Math.abs(Date.now() - time.getTime()) < 60_000, `${time} is not about now`);
}

/** Not earlier than `earliest`, give or take what two clocks of a machine may differ. */
export function assertNotBefore(at, earliest) {
  assert.ok(at >= earliest - 50, `${earliest - at} ms too early`);
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const hoursAgo = (hours) => new Date(Date.now() - hours * 3_600_000);
export const inHours = (hours) => hoursAgo(-hours);

/** Every page of a list, forward: the ids in the order in which they came. */
export async function pages(list, limit, of = ({ id }) => id) {
  const ids = [];
  for (let iterator = undefined, count = 0; count < 1000; count += 1) {
    const page = await list({ limit, iterator });
    assert.ok(page.data.length <= limit);
    ids.push(...page.data.map(of));
    if (page.data.length > 0) {
      // webhooks-api 1.4: also when done, so that a reader can go on later.
      assert.equal(page.iterator, of(page.data.at(-1)));
      assert.equal(page.prevIterator, `-${of(page.data[0])}`);
    } else {
      assert.equal(page.iterator, null);
      assert.equal(page.prevIterator ?? null, null);
    }
    if (page.done) return ids;
    iterator = page.iterator;
  }
  return assert.fail("the list has no end");
}

// ---- The operations of webhooks-api 2 ----

export const OPERATIONS = [
  ["GET", "/app"],
  ["POST", "/app"],
  ["GET", "/app/{app}"],
  ["PUT", "/app/{app}"],
  ["PATCH", "/app/{app}"],
  ["DELETE", "/app/{app}"],
  ["GET", "/event-type"],
  ["POST", "/event-type"],
  ["POST", "/event-type/import/openapi"],
  ["GET", "/event-type/{name}"],
  ["PUT", "/event-type/{name}"],
  ["PATCH", "/event-type/{name}"],
  ["DELETE", "/event-type/{name}"],
  ["GET", "/app/{app}/endpoint"],
  ["POST", "/app/{app}/endpoint"],
  ["GET", "/app/{app}/endpoint/{ep}"],
  ["PUT", "/app/{app}/endpoint/{ep}"],
  ["PATCH", "/app/{app}/endpoint/{ep}"],
  ["DELETE", "/app/{app}/endpoint/{ep}"],
  ["GET", "/app/{app}/endpoint/{ep}/secret"],
  ["POST", "/app/{app}/endpoint/{ep}/secret/rotate"],
  ["GET", "/app/{app}/endpoint/{ep}/headers"],
  ["PUT", "/app/{app}/endpoint/{ep}/headers"],
  ["PATCH", "/app/{app}/endpoint/{ep}/headers"],
  ["GET", "/app/{app}/endpoint/{ep}/stats"],
  ["POST", "/app/{app}/endpoint/{ep}/send-example"],
  ["POST", "/app/{app}/endpoint/{ep}/recover"],
  ["POST", "/app/{app}/endpoint/{ep}/replay-missing"],
  ["POST", "/app/{app}/endpoint/{ep}/bulk-replay"],
  ["GET", "/app/{app}/endpoint/{ep}/rate-limit-status"],
  ["POST", "/app/{app}/endpoint/{ep}/cancel-msgs"],
  ["GET", "/app/{app}/endpoint/{ep}/transformation"],
  ["PATCH", "/app/{app}/endpoint/{ep}/transformation"],
  ["GET", "/app/{app}/msg"],
  ["POST", "/app/{app}/msg"],
  ["GET", "/app/{app}/msg/{msg}"],
  ["DELETE", "/app/{app}/msg/{msg}/content"],
  ["POST", "/app/{app}/msg/precheck/active"],
  ["POST", "/app/{app}/msg/bulk-expunge"],
  ["POST", "/app/{app}/msg/expunge-all-contents"],
  ["GET", "/app/{app}/msg/{msg}/raw"],
  ["GET", "/app/{app}/attempt/endpoint/{ep}"],
  ["GET", "/app/{app}/attempt/msg/{msg}"],
  ["GET", "/app/{app}/endpoint/{ep}/msg"],
  ["GET", "/app/{app}/msg/{msg}/endpoint"],
  ["GET", "/app/{app}/msg/{msg}/attempt/{atmpt}"],
  ["DELETE", "/app/{app}/msg/{msg}/attempt/{atmpt}/content"],
  ["POST", "/app/{app}/msg/{msg}/endpoint/{ep}/resend"],
  ["POST", "/auth/app-portal-access/{app}"],
  ["POST", "/auth/dashboard-access/{app}"],
  ["POST", "/auth/app/{app}/expire-all"],
  ["POST", "/auth/logout"],
  ["GET", "/auth/whoami"],
  ["GET", "/background-task"],
  ["GET", "/background-task/{task}"],
  ["POST", "/stats/usage/app"],
  ["PUT", "/stats/usage/event-types"],
  ["POST", "/environment/export"],
  ["POST", "/environment/import"],
  ["GET", "/app/{app}/integration"],
  ["POST", "/app/{app}/integration"],
  ["GET", "/app/{app}/integration/{integ}"],
  ["PUT", "/app/{app}/integration/{integ}"],
  ["DELETE", "/app/{app}/integration/{integ}"],
  ["GET", "/app/{app}/integration/{integ}/key"],
  ["POST", "/app/{app}/integration/{integ}/key/rotate"],
  ["GET", "/operational-webhook/endpoint"],
  ["POST", "/operational-webhook/endpoint"],
  ["GET", "/operational-webhook/endpoint/{ep}"],
  ["PUT", "/operational-webhook/endpoint/{ep}"],
  ["DELETE", "/operational-webhook/endpoint/{ep}"],
  ["GET", "/operational-webhook/endpoint/{ep}/secret"],
  ["POST", "/operational-webhook/endpoint/{ep}/secret/rotate"],
  ["GET", "/operational-webhook/endpoint/{ep}/headers"],
  ["PUT", "/operational-webhook/endpoint/{ep}/headers"],
];

export const at = (template, names) => template.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);

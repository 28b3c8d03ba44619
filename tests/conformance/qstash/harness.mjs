// What the tests of one area share: a server, a receiver, the official client, and what is asserted everywhere.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Client, QstashError, Receiver as Verifier } from "@upstash/qstash";
import { Receiver } from "../lib/receiver.mjs";
import { PATIENCE_MS, Server, waitFor } from "../lib/server.mjs";
import "../lib/watch.mjs";

export { waitFor };

const MINUTE_MS = 60_000;
/** For how long to wait for a schedule of every minute: it fires at the next full minute; the rest is patience. */
export const A_MINUTE = MINUTE_MS + 1000 + PATIENCE_MS;
/** The first full minute after a time: when such a schedule fires at the earliest. */
export const minuteAfter = (time) => (Math.floor(time / MINUTE_MS) + 1) * MINUTE_MS;

// The credentials of --dev are public by design.
export const DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";
export const DEV_KEYS = { current: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r", next: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs" };

// The client announces each failure on the console; the tests provoke many.
for (const level of ["error", "warn"]) {
  const original = console[level];
  console[level] = (...parts) => String(parts[0]).startsWith("[Upstash QStash]") || original(...parts);
}

/** Call inside describe(): starts everything before its tests, and ends it after them. */
export function world({ flags = [], dev = true, token = DEV_TOKEN } = {}) {
  const it = new World();
  before(async () => {
    it.server = new Server(flags, dev, token);
    it.receiver = await new Receiver().start();
    await it.server.start();
    it.client = it.connect();
  });
  after(async () => {
    await it.server.close();
    await it.receiver.close();
  });
  return it;
}

class World {
  #names = 0;

  connect(config = {}) {
    return new Client({ baseUrl: this.server.url, token: this.server.token, devMode: false, retry: false, ...config });
  }

  hook(...answers) {
    return this.receiver.hook(...answers);
  }

  raw(method, target, options) {
    return this.server.raw(method, target, options);
  }

  /** A name for a queue, group, key or label that no other test of the file uses. */
  name(kind = "name") {
    this.#names += 1;
    return `${kind}-${this.#names}`;
  }

  /** A message that waits long enough to be looked at. */
  async waiting(request = {}) {
    return (await this.client.publish({ url: this.receiver.url + "/later", delay: "1h", ...request })).messageId;
  }

  /** The message's log, oldest first. */
  async log(messageId) {
    return (await this.client.logs({ messageIds: [messageId], count: 1000 })).logs.reverse();
  }

  async states(messageId) {
    return (await this.log(messageId)).map((entry) => entry.state);
  }

  /** Waits for exactly this sequence of states. */
  async waitStates(messageId, ...expected) {
    let seen = [];
    const same = async () => {
      seen = await this.states(messageId);
      return seen.join() === expected.join();
    };
    await waitFor(same, () => `${messageId} to be ${expected}; it was ${seen}`);
  }

  /** Makes a dead letter; its entry. */
  async deadLetter(request = {}, ...answers) {
    const hook = this.hook(...(answers.length > 0 ? answers : [{ status: 500, body: "broken" }]));
    const { messageId } = await this.client.publish({ url: hook.url, retries: 0, ...request });
    return this.waitDeadLetter(messageId);
  }

  async waitDeadLetter(messageId) {
    const [entry] = await waitFor(async () => {
      const { messages } = await this.client.dlq.listMessages({ filter: { messageId } });
      return messages.length > 0 && messages;
    }, `${messageId} in the DLQ`);
    return entry;
  }

  /** Everything that was to start at once has had its turn when this returns: messages published after it were delivered. */
  async settle() {
    for (let round = 0; round < 3; round += 1) {
      const canary = this.hook();
      await this.client.publish({ url: canary.url, body: "canary" });
      await canary.one();
    }
  }

  /** The delivery carries a signature that the official receiver accepts. */
  async verified(request, keys = DEV_KEYS, url = request.url) {
    const verifier = new Verifier({ currentSigningKey: keys.current, nextSigningKey: keys.next, devMode: false });
    assert.equal(
      await verifier.verify({ signature: request.headers["upstash-signature"], body: request.text, url }),
      true,
    );
  }

  /** Each [method, target] is refused without the token and with a wrong one. */
  async needToken(...endpoints) {
    const rows = (token) =>
      endpoints.map(([method, target]) => [`${method} ${target} with ${token}`, method, target, { token }, 401]);
    await this.refusals([...rows(null), ...rows("wrong")]);
  }

  /** Sends each row raw and expects its refusal. Row: name, method, target, options of exchange, status, pattern of the text. */
  async refusals(rows) {
    const wrong = [];
    for (const [name, method, target, options, status, pattern] of rows) {
      const answer = await this.raw(method, target, options);
      const problem = refusalProblem(answer.status, answer.text, status, pattern);
      if (problem) wrong.push(`${name}: ${problem}`);
      else if (!answer.headers["content-type"]?.startsWith("application/json"))
        wrong.push(`${name}: Content-Type is ${answer.headers["content-type"]}`);
    }
    assert.deepEqual(wrong, []);
  }
}

function refusalProblem(status, text, expected, pattern) {
  if (status !== expected) return `answered ${status} ${text.slice(0, 200)}, expected ${expected}`;
  let error;
  try {
    ({ error } = JSON.parse(text));
  } catch {
    return `answered something that is not JSON: ${text.slice(0, 200)}`;
  }
  if (typeof error !== "string" || error === "") return `answered without an error text: ${text.slice(0, 200)}`;
  if (pattern && !pattern.test(error)) return `said "${error}", expected ${pattern}`;
  return undefined;
}

/** The client's call is refused with this status and a text in the documented form. */
export async function refused(call, status, pattern) {
  const error = await call.then(
    (value) => assert.fail(`was not refused but answered ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  if (!(error instanceof QstashError)) throw error;
  const problem = refusalProblem(error.status, error.message, status, pattern);
  assert.equal(problem, undefined);
}

/** A time in milliseconds of about now, give or take what a clock that follows another one slowly may differ. */
export function assertRecent(time) {
  assert.equal(typeof time, "number");
  assert.ok(Math.abs(Date.now() - time) < 60_000, `${time} is not a time in milliseconds of about now`);
}

export const base64 = (text) => Buffer.from(text).toString("base64");
export const unbase64 = (text) => Buffer.from(text, "base64").toString();
export const later = () => Date.now() + 3_600_000;

// logs() and events(): what happened to messages.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, base64, refused, unbase64, waitFor, world } from "./harness.mjs";

const DELIVERED = ["CREATED", "ACTIVE", "DELIVERED"];
const FAILED = ["CREATED", "ACTIVE", "ERROR", "FAILED"];

describe("logs", () => {
  const t = world();

  async function delivered(request = {}, hook = t.hook()) {
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", ...request });
    await t.waitStates(messageId, ...DELIVERED);
    return messageId;
  }

  const found = async (filter, options = {}) =>
    new Set((await t.client.logs({ filter, ...options })).logs.map(({ messageId }) => messageId));

  it("have three entries for a delivery and four for a failure", async () => {
    const messageId = await delivered();
    const failed = await t.deadLetter({ body: "x" });

    assert.deepEqual(await t.states(messageId), DELIVERED);
    assert.deepEqual(await t.states(failed.messageId), FAILED);
  });

  it("have a RETRY between two attempts, with the time of the next", async () => {
    const hook = t.hook(500, 500);
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 1, retryDelay: "40" });

    await t.waitStates(messageId, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "FAILED");

    const log = await t.log(messageId);
    for (const [index, entry] of log.entries()) {
      assertRecent(entry.time);
      if (index > 0) assert.ok(entry.time >= log[index - 1].time, JSON.stringify(log));
    }
    const retry = log.find(({ state }) => state === "RETRY");
    assert.ok(retry.nextDeliveryTime >= log[2].time + 40, JSON.stringify(retry));
    assert.equal(typeof log[0].nextDeliveryTime, "number");
  });

  it("have a CANCEL_REQUESTED and a CANCELED for a cancellation", async () => {
    const messageId = await t.waiting();
    await t.client.messages.cancel(messageId);

    await t.waitStates(messageId, "CREATED", "CANCEL_REQUESTED", "CANCELED");
    const spelled = (await t.raw("GET", `/v2/events?messageId=${messageId}&state=CANCELLED`)).json().events;
    assert.deepEqual(
      spelled.map(({ state }) => state),
      ["CANCELED"],
    );
  });

  it("show the message in every entry", async () => {
    const hook = t.hook();
    const key = t.name("key");
    const messageId = await delivered({
      url: `${hook.url}?a=1`,
      method: "PUT",
      body: "böd",
      headers: { "X-A": "1", "Content-Type": "a/b" },
      retries: 2,
      retryDelay: "7",
      timeout: 10,
      label: ["l1", "l2"],
      flowControl: { key, parallelism: 2, rate: 9, period: "1m" },
    });

    for (const entry of await t.log(messageId)) {
      assert.equal(entry.messageId, messageId);
      assert.equal(entry.url, `${hook.url}?a=1`);
      assert.equal(entry.method, "PUT");
      assert.equal(unbase64(entry.body), "böd");
      assert.equal(entry.body, base64("böd"));
      assert.deepEqual(entry.header, { "Content-Type": ["a/b"], "X-A": ["1"] });
      assert.equal(entry.maxRetries, 2);
      assert.equal(entry.retryDelayExpr, "7");
      assert.equal(entry.retryDelayExpression, "7");
      assert.equal(entry.timeout, 10_000);
      assert.equal(entry.label, "l1");
      assert.deepEqual(entry.labels, ["l1", "l2"]);
      assert.deepEqual([entry.flowControlKey, entry.parallelism, entry.rate, entry.period], [key, 2, 9, 60]);
    }
  });

  it("come newest first, or oldest", async () => {
    const messageId = await delivered();

    const newest = (await t.raw("GET", `/v2/events?messageId=${messageId}`)).json();
    const oldest = (await t.raw("GET", `/v2/events?messageId=${messageId}&order=earliestFirst`)).json();

    assert.deepEqual(
      newest.events.map(({ state }) => state),
      [...DELIVERED].reverse(),
    );
    assert.deepEqual(
      oldest.events.map(({ state }) => state),
      DELIVERED,
    );
    assert.equal("cursor" in newest, false);
    assert.deepEqual((await t.raw("GET", "/v2/events?messageId=msg_nobody")).json(), { events: [] });
  });

  it("come in pages that neither lose nor repeat an entry", async () => {
    const label = t.name("label");
    for (let i = 0; i < 10; i += 1) await t.client.publish({ url: t.hook().url, body: "x", label });
    await waitFor(
      async () => (await t.client.logs({ filter: { label, state: "DELIVERED" } })).logs.length === 10,
      "ten deliveries",
    );

    const entries = [];
    let cursor;
    do {
      const page = await t.client.logs({ filter: { label }, count: 7, cursor });
      assert.ok(page.logs.length <= 7);
      entries.push(...page.logs);
      ({ cursor } = page);
    } while (cursor);

    assert.equal(entries.length, 30);
    assert.equal(new Set(entries.map(({ messageId, state }) => `${messageId} ${state}`)).size, 30);
    for (let i = 1; i < entries.length; i += 1) assert.ok(entries[i].time <= entries[i - 1].time);
  });

  it("start at a time that is given as cursor", async () => {
    const messageId = await delivered();
    const filter = { messageId };

    // The server's clock follows the wall clock slowly: a little later than now is surely not before the entries.
    assert.equal((await t.client.logs({ filter, cursor: Date.now() + 1000 })).logs.length, 3);
    assert.equal((await t.client.logs({ filter, cursor: 1000 })).logs.length, 0);
  });

  it("are found by ids", async () => {
    const [a, b] = [await delivered(), await delivered()];

    const { logs, events } = await t.client.logs({ messageIds: [a, b] });

    assert.equal(logs.length, 6);
    assert.deepEqual(events, logs);
    assert.equal((await t.raw("GET", `/v2/events?messageIds=${a},${b}`)).json().events.length, 6);
    assert.equal((await t.client.events({ messageIds: [a] })).events.length, 3);
  });

  it("are filtered by each field", async () => {
    const label = t.name("label");
    const key = t.name("key");
    const hook = t.hook();
    const plain = await delivered({ label }, hook);
    const queued = await delivered({ label, headers: { "Upstash-Queue-Name": "log-queue" } });
    const flowing = await delivered({ label: [label, t.name("label")], flowControl: { key, parallelism: 1 } });
    const all = new Set([plain, queued, flowing]);
    const port = t.receiver.port;

    assert.deepEqual(await found({ label }), all);
    assert.deepEqual(await found({ label: [label, "nobody"] }), all);
    assert.deepEqual(await found({ label, url: hook.url }), new Set([plain]));
    assert.deepEqual(await found({ label, queueName: "log-queue" }), new Set([queued]));
    assert.deepEqual(await found({ label, flowControlKey: [key, "nobody"] }), new Set([flowing]));
    assert.deepEqual(await found({ label, host: "127.0.0.1" }), all);
    assert.deepEqual(await found({ label, host: `127.0.0.1:${port}` }), all);
    assert.deepEqual(await found({ label, host: "elsewhere" }), new Set());
    assert.deepEqual(await found({ label, path: hook.path }), new Set([plain]));
    assert.deepEqual(await found({ label, callerIp: "127.0.0.1" }), all);
    assert.deepEqual(await found({ label, callerIp: "10.0.0.1" }), new Set());
    assert.deepEqual(await found({ label, urlGroup: "nobody" }), new Set());
    assert.deepEqual(await found({ label, scheduleId: "nobody" }), new Set());
    assert.deepEqual(
      await found({ label, fromDate: Date.now() - 600_000, toDate: new Date(Date.now() + 600_000) }),
      all,
    );
    assert.deepEqual(await found({ label, fromDate: Date.now() + 600_000 }), new Set());
    assert.deepEqual(await found({ label, toDate: 1 }), new Set());
  });

  it("are filtered by state", async () => {
    const label = t.name("label");
    const good = await delivered({ label });
    const bad = await t.deadLetter({ label });
    const of = async (state) =>
      (await t.client.logs({ filter: { label, state } })).logs.map((entry) => `${entry.messageId} ${entry.state}`);

    assert.deepEqual(await of("DELIVERED"), [`${good} DELIVERED`]);
    assert.deepEqual(await of("FAILED"), [`${bad.messageId} FAILED`]);
    assert.deepEqual(await of("CANCELED"), []);
    assert.deepEqual(
      (await of("IN_PROGRESS")).sort(),
      [`${bad.messageId} ACTIVE`, `${bad.messageId} ERROR`, `${good} ACTIVE`].sort(),
    );
  });

  it("are there under their newer name, as logs and as events", async () => {
    const messageId = await delivered();

    const answer = (await t.raw("GET", `/v2/logs?messageId=${messageId}`)).json();

    assert.equal(answer.logs.length, 3);
    assert.deepEqual(answer.events, answer.logs);
  });

  it("take what tools of the vendor send", async () => {
    const messageId = await delivered();

    const answer = await t.raw("GET", `/v2/events?messageId=${messageId}&trimBody=0`);
    assert.equal(answer.json().events.length, 3);
    assert.equal((await t.raw("GET", `/v2/events?messageId=${messageId}&groupBy=messageId`)).status, 200);
  });

  it("count exactly four entries for each of a hundred that fail", async () => {
    const label = t.name("label");
    const hook = t.hook(500);
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => t.client.publish({ url: hook.url, body: `${i}`, retries: 0, label })),
    );
    await waitFor(
      async () => (await t.client.logs({ filter: { label, state: "FAILED" }, count: 1000 })).logs.length === 100,
      "a hundred failures",
    );

    assert.equal((await t.client.logs({ filter: { label }, count: 1000 })).logs.length, 400);
  });

  it("refuse what they do not understand", async () => {
    const rows = [];
    for (const path of ["/v2/events", "/v2/logs"]) {
      for (const query of [
        "nonsense=1",
        "state=HAPPY",
        "count=0",
        "count=x",
        "fromDate=x",
        "toDate=yesterday",
        "order=sideways",
        "cursor=%21%21",
      ]) {
        rows.push([`${path}?${query}`, "GET", `${path}?${query}`, {}, 400]);
      }
    }
    await t.refusals([...rows, ["method", "DELETE", "/v2/events", {}, 405]]);
    await refused(t.client.logs({ count: -1 }), 400);
    await assert.rejects(t.client.logs({ messageIds: [] }), /Empty array/);
  });
});

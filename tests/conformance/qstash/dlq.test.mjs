// The dead letter queue.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, base64, refused, waitFor, world } from "./harness.mjs";

const ids = (messages) => messages.map(({ dlqId }) => dlqId);

describe("dead letters", () => {
  const t = world();

  const list = async (filter, options = {}) => ids((await t.client.dlq.listMessages({ filter, ...options })).messages);

  /** Dead letters under a label of their own, in the order of their failure. */
  async function several(count, request = {}) {
    const label = t.name("label");
    const entries = [];
    for (let i = 0; i < count; i += 1) entries.push(await t.deadLetter({ body: `${i}`, label, ...request }));
    return { label, entries };
  }

  it("have all fields of the message and the last answer", async () => {
    const hook = t.hook({ status: 503, headers: { "X-Why": "tired" }, body: "not today" });
    const { messageId } = await t.client.publish({
      url: `${hook.url}?q=1`,
      method: "PUT",
      body: "b",
      headers: { "X-A": "1", "Content-Type": "a/b" },
      retries: 1,
      retryDelay: "1",
      label: ["l1", "l2"],
      flowControl: { key: t.name("key"), parallelism: 4 },
    });

    const entry = await t.waitDeadLetter(messageId);

    assert.ok(entry.dlqId);
    assert.equal(entry.messageId, messageId);
    assert.equal(entry.url, `${hook.url}?q=1`);
    assert.equal(entry.method, "PUT");
    assert.equal(entry.body, "b");
    assert.deepEqual(entry.header, { "Content-Type": ["a/b"], "X-A": ["1"] });
    assert.equal(entry.maxRetries, 1);
    assert.equal(entry.retryDelayExpression, "1");
    assert.equal(entry.label, "l1");
    assert.deepEqual(entry.labels, ["l1", "l2"]);
    assert.equal(entry.parallelism, 4);
    assert.equal(entry.callerIP, "127.0.0.1");
    assert.equal(entry.callerIp, "127.0.0.1");
    assertRecent(entry.createdAt);
    assert.equal(typeof entry.notBefore, "number");
    assert.equal(entry.responseStatus, 503);
    assert.equal(entry.responseBody, "not today");
    assert.deepEqual(entry.responseHeader["X-Why"], ["tired"]);
    const single = (await t.raw("GET", `/v2/dlq/${entry.dlqId}`)).json();
    const { urlGroup, ratePerSecond, ...plain } = entry;
    assert.deepEqual(single, plain);
  });

  it("show bytes as base64", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00]);

    const entry = await t.deadLetter({ body: bytes }, { status: 500, body: bytes });

    assert.equal(entry.bodyBase64, base64(bytes));
    assert.equal(entry.responseBodyBase64, base64(bytes));
    assert.equal("body" in entry || "responseBody" in entry, false);
  });

  it("are listed with the first failure first, or the last", async () => {
    const { label, entries } = await several(3);

    assert.deepEqual(await list({ label }), ids(entries));
    const latest = (await t.raw("GET", `/v2/dlq?label=${label}&order=latestFirst`)).json().messages;
    assert.deepEqual(ids(latest), ids(entries).reverse());
  });

  it("come in pages; the last one has no cursor", async () => {
    const { label, entries } = await several(5);
    const pages = [];
    let cursor;
    do {
      const page = await t.client.dlq.listMessages({ filter: { label }, count: 2, cursor });
      pages.push(page.messages);
      assert.ok(page.messages.length <= 2);
      ({ cursor } = page);
    } while (cursor);

    assert.deepEqual(ids(pages.flat()), ids(entries));
    assert.equal("cursor" in (await t.raw("GET", `/v2/dlq?label=${label}`)).json(), false);
    assert.deepEqual((await t.raw("GET", "/v2/dlq?label=nobody")).json(), { messages: [] });
  });

  it("are filtered by each field, and by several values of one", async () => {
    const label = t.name("label");
    const key = t.name("key");
    const [plain, queued, flowing] = [
      await t.deadLetter({ label }, 500),
      await t.deadLetter({ label, headers: { "Upstash-Queue-Name": "dead-queue" } }, 502),
      await t.deadLetter({ label: [t.name("label"), label], flowControl: { key, parallelism: 1 } }, 503),
    ];
    const all = ids([plain, queued, flowing]);

    assert.deepEqual(await list({ label }), all);
    assert.deepEqual(await list({ label: ["nobody", label] }), all);
    assert.deepEqual(await list({ label, messageId: queued.messageId }), [queued.dlqId]);
    assert.deepEqual(await list({ label, url: plain.url }), [plain.dlqId]);
    assert.deepEqual(await list({ label, url: [plain.url, queued.url] }), [plain.dlqId, queued.dlqId]);
    assert.deepEqual(await list({ label, queueName: "dead-queue" }), [queued.dlqId]);
    assert.deepEqual(await list({ label, flowControlKey: key }), [flowing.dlqId]);
    assert.deepEqual(await list({ label, responseStatus: 502 }), [queued.dlqId]);
    assert.deepEqual(await list({ label, responseStatus: [500, 503] }), [plain.dlqId, flowing.dlqId]);
    assert.deepEqual(await list({ label, callerIp: "127.0.0.1" }), all);
    assert.deepEqual(await list({ label, callerIp: "10.0.0.1" }), []);
    assert.deepEqual(await list({ label, urlGroup: "nobody" }), []);
    assert.deepEqual(await list({ label, scheduleId: "nobody" }), []);
    assert.deepEqual(
      await list({ label, fromDate: new Date(Date.now() - 600_000), toDate: Date.now() + 600_000 }),
      all,
    );
    assert.deepEqual(await list({ label, fromDate: Date.now() + 600_000 }), []);
    assert.deepEqual(await list({ label, toDate: 1 }), []);
    assert.deepEqual(
      ids((await t.client.dlq.listMessages({ dlqIds: [queued.dlqId, plain.dlqId] })).messages).sort(),
      [plain.dlqId, queued.dlqId].sort(),
    );
    assert.deepEqual(ids((await t.client.dlq.listMessages({ dlqIds: flowing.dlqId })).messages), [flowing.dlqId]);
    const commas = (await t.raw("GET", `/v2/dlq?label=${label}&responseStatus=500,502`)).json().messages;
    assert.deepEqual(ids(commas), [plain.dlqId, queued.dlqId]);
  });

  it("leave bodies out when tools ask for that", async () => {
    const { label } = await several(1);

    const answer = await t.raw("GET", `/v2/dlq?label=${label}&trimBody=0`);

    assert.equal(answer.status, 200);
    assert.equal(answer.json().messages.length, 1);
  });

  it("are deleted one by one", async () => {
    const {
      entries: [entry],
    } = await several(1);

    assert.deepEqual(await t.client.dlq.delete(entry.dlqId), { deleted: 1 });
    await refused(t.client.dlq.delete(entry.dlqId), 404);
    assert.equal((await t.raw("GET", `/v2/dlq/${entry.dlqId}`)).status, 404);
  });

  it("are deleted by ids, by filter, and in portions", async () => {
    const {
      label,
      entries: [a, b, ...rest],
    } = await several(7);

    assert.equal((await t.client.dlq.delete([a.dlqId, "123-nobody"])).deleted, 1);
    assert.equal((await t.client.dlq.deleteMany({ dlqIds: [b.dlqId] })).deleted, 1);
    const first = await t.client.dlq.delete({ filter: { label }, count: 2 });
    assert.equal(first.deleted, 2);
    assert.ok(first.cursor);
    const second = await t.client.dlq.delete({ filter: { label }, count: 50, cursor: first.cursor });
    assert.deepEqual(second, { deleted: rest.length - 2 });
    assert.deepEqual(await list({ label }), []);
    assert.deepEqual(await t.client.dlq.delete({ filter: { label } }), { deleted: 0 });
    assert.deepEqual(await t.client.dlq.delete([]), { deleted: 0 });
  });

  it("are deleted by ids in a body, as other clients do", async () => {
    const { entries } = await several(2);

    const answer = await t.raw("DELETE", "/v2/dlq", {
      body: { dlqIds: ids(entries) },
      headers: { "Content-Type": "application/json" },
    });

    assert.deepEqual(answer.json(), { deleted: 2 });
  });

  it("are retried as new messages that start from 0", async () => {
    const hook = t.hook(500, 200);
    const { messageId } = await t.client.publish({
      url: `${hook.url}?x=1`,
      method: "PUT",
      body: "again",
      headers: { "X-A": "1" },
      retries: 0,
      label: "kept",
    });
    const { dlqId } = await t.waitDeadLetter(messageId);

    const { responses, cursor } = await t.client.dlq.retry(dlqId);

    assert.equal(responses.length, 1);
    assert.equal(cursor, undefined);
    assert.notEqual(responses[0].messageId, messageId);
    const [, request] = await hook.wait(2);
    assert.equal(request.headers["upstash-message-id"], responses[0].messageId);
    assert.equal(request.headers["upstash-retried"], "0");
    assert.equal(request.method, "PUT");
    assert.equal(request.text, "again");
    assert.equal(request.target, `${hook.path}?x=1`);
    assert.equal(request.headers["x-a"], "1");
    await t.verified(request);
    assert.deepEqual((await t.client.messages.get(responses[0].messageId)).labels, ["kept"]);
    assert.deepEqual(await list({ messageId }), []);
    await refused(t.client.dlq.retry(dlqId), 404);
  });

  it("are retried one by one with 201", async () => {
    const {
      entries: [entry],
    } = await several(1);

    const answer = await t.raw("POST", `/v2/dlq/retry/${entry.dlqId}`);

    assert.equal(answer.status, 201);
    assert.match(answer.json().messageId, /^msg_/);
    assert.equal((await t.raw("POST", `/v2/dlq/retry/${entry.dlqId}`)).status, 404);
  });

  it("are retried by ids, by filter and in portions", async () => {
    const { label, entries } = await several(5);
    const [a, b] = entries;

    const byIds = await t.client.dlq.retry([a.dlqId, b.dlqId]);
    assert.equal(byIds.responses.length, 2);
    const first = await t.client.dlq.retry({ filter: { url: entries.slice(2).map(({ url }) => url) }, count: 2 });
    assert.equal(first.responses.length, 2);
    assert.ok(first.cursor);
    const rest = await t.client.dlq.retry({ filter: { url: entries[4].url }, count: 2, cursor: first.cursor });
    assert.equal(rest.responses.length, 1);
    assert.equal(rest.cursor, undefined);
    assert.deepEqual(await t.client.dlq.retry({ filter: { label: "nobody" } }), { responses: [], cursor: undefined });
    assert.deepEqual(await t.client.dlq.retry([]), { responses: [] });
    // Each fails again and becomes a dead letter again, under its new id.
    await waitFor(async () => (await list({ label })).length === 5, "five dead letters again");
  });

  it("are not retried at all when one of the ids is unknown", async () => {
    const { label, entries } = await several(2);

    await refused(t.client.dlq.retry([...ids(entries), "1-1"]), 404);

    assert.deepEqual(await list({ label }), ids(entries));
  });

  it("are not deduplicated when retried", async () => {
    const hook = t.hook(500, 200);
    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "x",
      retries: 0,
      deduplicationId: t.name("dedup"),
    });
    const { dlqId } = await t.waitDeadLetter(messageId);

    await t.client.dlq.retry(dlqId);

    await hook.wait(2);
  });

  it("refuse what they do not understand, and change nothing", async () => {
    const { label, entries } = await several(1);
    const rows = [];
    for (const [method, path] of [
      ["GET", "/v2/dlq"],
      ["DELETE", "/v2/dlq"],
      ["POST", "/v2/dlq/retry"],
    ]) {
      for (const query of [
        "nonsense=1",
        "host=127.0.0.1",
        "path=/x",
        "count=0",
        "count=x",
        "count=-1",
        "fromDate=yesterday",
        "toDate=x",
        "responseStatus=x",
        "order=sideways",
        "cursor=%21%21%21",
      ]) {
        if (method !== "GET" && query.startsWith("order")) continue;
        rows.push([`${method} ${path}?${query}`, method, `${path}?label=${label}&${query}`, {}, 400]);
      }
    }
    await t.refusals([
      ...rows,
      ["get unknown", "GET", "/v2/dlq/1-1", {}, 404],
      ["get nonsense", "GET", "/v2/dlq/nonsense", {}, 404],
      ["delete unknown", "DELETE", "/v2/dlq/1-1", {}, 404],
      ["retry unknown", "POST", "/v2/dlq/retry/1-1", {}, 404],
      ["delete: not JSON", "DELETE", "/v2/dlq", { body: "{" }, 400],
      ["delete: ids of the wrong type", "DELETE", "/v2/dlq", { body: { dlqIds: {} } }, 400],
      ["method", "PUT", "/v2/dlq", {}, 405],
    ]);
    assert.deepEqual(await list({ label }), ids(entries));
    await assert.rejects(t.client.dlq.delete({ dlqIds: [] }), /Empty dlqIds/);
    await assert.rejects(t.client.dlq.listMessages({ dlqIds: [] }), /Empty array/);
  });
});

describe("all dead letters", () => {
  const t = world();

  it("are retried, then deleted, in portions", async () => {
    const hook = t.hook(500);
    for (let i = 0; i < 5; i += 1) await t.client.publish({ url: hook.url, body: `${i}`, retries: 0 });
    const count = async () => (await t.client.dlq.listMessages()).messages.length;
    await waitFor(async () => (await count()) === 5, "five dead letters");

    const { responses, cursor } = await t.client.dlq.retry({ all: true });
    assert.equal(responses.length, 5);
    assert.equal(cursor, undefined);
    await hook.wait(10);
    await waitFor(async () => (await count()) === 5, "five dead letters again");
    let deleted = 0;
    let next;
    do {
      const portion = await t.client.dlq.delete({ all: true, count: 2, cursor: next });
      assert.ok(portion.deleted <= 2);
      deleted += portion.deleted;
      next = portion.cursor;
    } while (next);

    assert.equal(deleted, 5);
    assert.equal(await count(), 0);
  });
});

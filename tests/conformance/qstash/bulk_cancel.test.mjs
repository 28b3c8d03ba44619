// messages.cancel of many: by ids, by filter, all; bulk actions, which the client does not know, by hand.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, waitFor, world } from "./harness.mjs";

describe("bulk cancel", () => {
  const t = world();

  const many = (count, request = {}) => Promise.all(Array.from({ length: count }, () => t.waiting(request)));
  const cancelled = async (messageIds) => {
    const { logs } = await t.client.logs({ messageIds, count: 1000 });
    return new Set(logs.filter(({ state }) => state === "CANCEL_REQUESTED").map(({ messageId }) => messageId));
  };

  it("cancels by ids and counts those that it cancelled", async () => {
    const ids = await many(4);

    assert.deepEqual(await t.client.messages.cancel(ids.slice(0, 2)), { cancelled: 2 });
    assert.deepEqual(await t.client.messages.cancel({ messageIds: [...ids.slice(0, 3), "msg_nobody"] }), {
      cancelled: 1,
    });
    assert.equal(await t.client.messages.deleteMany([ids[3]]), 1);
    assert.deepEqual(await t.client.messages.cancel([]), { cancelled: 0 });
    assert.deepEqual(await cancelled(ids), new Set(ids));
  });

  it("does not count what is delivered", async () => {
    const { messageId } = await t.client.publish({ url: t.hook().url, body: "x" });
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");

    assert.deepEqual(await t.client.messages.cancel([messageId]), { cancelled: 0 });
  });

  it("cancels by each filter what matches and nothing else", async () => {
    const label = t.name("label");
    const key = t.name("key");
    const [url, other] = [`${t.receiver.url}/bulk/a`, `${t.receiver.url}/bulk/b?x=1`];
    const start = Date.now();
    // By filter: how many of the four messages below must go.
    const rows = [
      [{ label }, 4],
      [{ label: ["nobody", label] }, 4],
      [{ label: "nobody" }, 0],
      [{ label, url }, 2],
      [{ label, url: [url, other] }, 3],
      [{ label, flowControlKey: key }, 1],
      [{ label, host: "127.0.0.1" }, 4],
      [{ label, host: `127.0.0.1:${t.receiver.port}` }, 4],
      [{ label, host: "elsewhere" }, 0],
      [{ label, path: "/bulk/b" }, 1],
      [{ label, path: ["/bulk/a", "/bulk/b"] }, 3],
      [{ label, callerIp: "127.0.0.1" }, 4],
      [{ label, callerIp: "10.0.0.1" }, 0],
      [{ label, fromDate: start - 5000, toDate: new Date(start + 600_000) }, 4],
      [{ label, fromDate: new Date(start + 600_000) }, 0],
      [{ label, toDate: 1 }, 0],
      [{ label, urlGroup: "nobody" }, 0],
      [{ label, scheduleId: "nobody" }, 0],
      [{ label, queueName: "nobody" }, 0],
    ];
    for (const [filter, expected] of rows) {
      const ids = [
        await t.waiting({ label, url }),
        await t.waiting({ label, url }),
        await t.waiting({ label: [label, "more"], url: other }),
        await t.waiting({ label, flowControl: { key, parallelism: 1 } }),
      ];
      const name = JSON.stringify(filter);

      assert.deepEqual(await t.client.messages.cancel({ filter }), { cancelled: expected }, name);

      assert.equal((await cancelled(ids)).size, expected, name);
      assert.deepEqual(await t.client.messages.cancel({ filter: { label } }), { cancelled: 4 - expected }, name);
    }
  });

  it("cancels by queue and by URL group", async () => {
    const name = t.name("group");
    const queue = t.client.queue({ queueName: t.name("queue") });
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: t.hook().url }, { url: t.hook().url }] });
    await queue.upsert({ paused: true });
    await t.client.publish({ urlGroup: name, delay: "1h" });
    for (let i = 0; i < 3; i += 1) await queue.enqueue({ url: t.hook().url, body: "x" });

    assert.deepEqual(await t.client.messages.cancel({ filter: { urlGroup: name } }), { cancelled: 2 });
    assert.deepEqual(await t.client.messages.cancel({ filter: { queueName: queue.queueName } }), { cancelled: 3 });
    assert.equal((await queue.get()).lag, 0);
  });

  it("limits by count, except by the 100 that the client always sends", async () => {
    const label = t.name("label");
    await many(103, { label });

    assert.deepEqual(await t.client.messages.cancel({ filter: { label }, count: 2 }), { cancelled: 2 });
    assert.deepEqual(await t.client.messages.cancel({ filter: { label } }), { cancelled: 101 });
  });

  it("takes its filters in a body, as other clients send them", async () => {
    const label = t.name("label");
    const ids = await many(3, { label });
    const json = { "Content-Type": "application/json" };

    assert.deepEqual(
      (await t.raw("DELETE", "/v2/messages", { body: { messageIds: [ids[0]] }, headers: json })).json(),
      { cancelled: 1 },
    );
    assert.deepEqual((await t.raw("DELETE", "/v2/messages", { body: { label }, headers: json })).json(), {
      cancelled: 2,
    });
  });

  it("takes several values separated by commas, and ids win over other filters", async () => {
    const label = t.name("label");
    const ids = await many(3, { label });

    assert.deepEqual((await t.raw("DELETE", `/v2/messages?messageIds=${ids[0]},${ids[1]}&label=nobody`)).json(), {
      cancelled: 2,
    });
    assert.deepEqual((await t.raw("DELETE", `/v2/messages?label=nobody,${label}`)).json(), { cancelled: 1 });
  });

  it("needs the token", async () => {
    const messageId = await t.waiting();

    await t.needToken(["DELETE", "/v2/messages"], ["DELETE", `/v2/messages?messageIds=${messageId}`]);

    assert.equal((await cancelled([messageId])).size, 0);
  });

  it("does nothing at all when it does not understand", async () => {
    const label = t.name("label");
    const ids = await many(2, { label });
    const row = (query) => [query, "DELETE", `/v2/messages?label=${label}&${query}`, {}, 400];
    const body = (name, text) => [
      name,
      "DELETE",
      "/v2/messages",
      { body: text, headers: { "Content-Type": "application/json" } },
      400,
    ];
    await t.refusals([
      row("nonsense=1"),
      row("state=CREATED"),
      row("fromDate=yesterday"),
      row("toDate=x"),
      row("count=0"),
      row("count=x"),
      row("count=-1"),
      body("not JSON", "{"),
      body("an array", "[]"),
      body("ids of the wrong type", { messageIds: {} }),
      body("an id of the wrong type", { messageIds: [{}] }),
      body("unknown field", { nonsense: "1" }),
    ]);
    await refused(t.client.messages.cancel({ filter: { label, nonsense: "1" } }), 400);
    assert.equal((await cancelled(ids)).size, 0);
    await assert.rejects(t.client.messages.cancel({ messageIds: [] }), /Empty messageIds/);
    await t.client.messages.cancel(ids);
  });

  it("cancels everything when asked for everything", async () => {
    for (let i = 0; i < 2; i += 1) await t.client.messages.cancel({ all: true });
    const ids = await many(5);

    assert.deepEqual(await t.client.messages.cancel({ all: true }), { cancelled: 5 });
    assert.equal(await t.client.messages.deleteAll(), 0);
    assert.deepEqual(await cancelled(ids), new Set(ids));
  });

  const finished = async (actionId) => {
    const shown = async () => (await t.raw("GET", `/v2/bulkActions/${actionId}`)).json();
    await waitFor(async () => (await shown()).state === "FINISHED", `${actionId} to finish`);
    return shown();
  };
  const start = async (parameters) => {
    const headers = { "Content-Type": "application/json" };
    const answer = await t.raw("DELETE", "/v2/messages", { body: { ...parameters, async: true }, headers });
    assert.equal(answer.status, 200);
    const { actionId, ...rest } = await answer.json();
    assert.deepEqual(rest, {});
    return actionId;
  };

  it("cancels in the background what matches, and shows how far it is", async () => {
    const label = t.name("label");
    const ids = await many(7, { label });
    const others = await many(2, { label: t.name("other") });
    const before = Date.now();
    const actionId = await start({ label: [label, "nobody"], fromDate: 1 });
    const { createdAt, completedAt, ...action } = await finished(actionId);

    assert.deepEqual(action, {
      actionId,
      kind: "cancel",
      state: "FINISHED",
      total: 7,
      processed: 7,
      filter: { label: [label, "nobody"].sort(), fromDate: ["1"] },
    });
    assert.ok(createdAt >= before - 5000 && completedAt >= createdAt);
    assert.deepEqual(await cancelled([...ids, ...others]), new Set(ids));
    assert.deepEqual(await t.client.messages.cancel(others), { cancelled: 2 });
  });

  it("starts in the background by the query as well, and not for ids or without a wish", async () => {
    const label = t.name("label");
    const ids = await many(3, { label });
    const { actionId } = await (await t.raw("DELETE", `/v2/messages?label=${label}&async=true&count=2`)).json();
    assert.equal((await finished(actionId)).processed, 2);
    const rest = await (await t.raw("DELETE", `/v2/messages?label=${label}&async=false`)).json();
    assert.deepEqual(rest, { cancelled: 1 });
    const named = await (await t.raw("DELETE", `/v2/messages?messageIds=${ids[0]}&async=true`)).json();
    assert.deepEqual(named, { cancelled: 0 });
  });

  it("lists bulk actions newest first, in pages and by state", async () => {
    const label = t.name("label");
    const made = [];
    for (let i = 0; i < 5; i += 1) made.push(await start({ label }));
    for (const actionId of made) await finished(actionId);
    const seen = [];
    for (let cursor = ""; cursor !== undefined; ) {
      const query = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await (await t.raw("GET", `/v2/bulkActions?count=2&state=FINISHED${query}`)).json();
      assert.ok(page.bulkActions.length <= 2);
      seen.push(...page.bulkActions.map(({ actionId }) => actionId));
      cursor = page.cursor;
    }
    assert.deepEqual(seen.slice(0, 5), made.reverse());
    assert.deepEqual((await (await t.raw("GET", "/v2/bulkActions?state=IN_PROGRESS")).json()).bulkActions, []);
    const all = (await (await t.raw("GET", "/v2/bulkActions?count=5000")).json()).bulkActions;
    assert.deepEqual(all.map(({ actionId }) => actionId), seen);
  });

  it("refuses what is no bulk action, page or state", async () => {
    await t.refusals([
      ["unknown", "GET", "/v2/bulkActions/bulk_1", {}, 404],
      ["no number", "GET", "/v2/bulkActions/bulk_x", {}, 404],
      ["another form of a number", "GET", "/v2/bulkActions/bulk_01", {}, 404],
      ["of another kind", "GET", "/v2/bulkActions/msg_1", {}, 404],
      ["state", "GET", "/v2/bulkActions?state=NONSENSE", {}, 400],
      ["count", "GET", "/v2/bulkActions?count=0", {}, 400],
      ["cursor", "GET", "/v2/bulkActions?cursor=x", {}, 400],
      ["parameter", "GET", "/v2/bulkActions?nonsense=1", {}, 400],
      ["async", "DELETE", "/v2/messages?async=maybe", {}, 400],
    ]);
    await t.needToken(["GET", "/v2/bulkActions"], ["GET", "/v2/bulkActions/bulk_1"]);
  });
});

// What became of messages: attempts, messages of an endpoint, destinations of a message (webhooks-api 7).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, CANCELED, FAIL, hoursAgo, ID, inHours, pages, PENDING, quick, refused, SENDING, STATUS_TEXTS, SUCCESS, TIME, world } from "./harness.mjs";

describe("attempts", () => {
  const t = world();

  both(t, "tell what was sent and what was answered", async (c) => {
    const { app, ep, hook } = await t.customer({ answers: [{ status: 503, body: "not yet" }, { status: 201, body: "thanks" }], options: quick(3) });
    const { id } = await t.send(app, "user.created", { n: 1 });
    await t.waitAttempts(app, id, 2);
    const list = await c.messageAttempt.listByMsg(app, id, { withContent: true });
    assert.equal(list.done, true);
    const [second, first] = list.data; // newest first
    for (const [attempt, status, code, response] of [
      [first, FAIL, 503, "not yet"],
      [second, SUCCESS, 201, "thanks"],
    ]) {
      assert.match(attempt.id, ID.atmpt);
      assert.deepEqual(
        [attempt.msgId, attempt.endpointId, attempt.url, attempt.status, attempt.statusText, attempt.responseStatusCode, attempt.response],
        [id, ep, hook.url, status, STATUS_TEXTS[status], code, response],
      );
      assert.equal(attempt.triggerType, 0);
      assert.ok(Number.isInteger(attempt.responseDurationMs) && attempt.responseDurationMs >= 0);
      assertRecent(attempt.timestamp);
    }
    assert.ok(first.timestamp <= second.timestamp);
    assert.deepEqual(await c.messageAttempt.get(app, id, first.id), first);
    const byEndpoint = await c.messageAttempt.listByEndpoint(app, ep, { withContent: true });
    assert.deepEqual(byEndpoint.data, list.data);
    const bare = await c.messageAttempt.listByEndpoint(app, ep, { withContent: false });
    assert.deepEqual(bare.data.map(({ response }) => response), [{}, {}]);
  });

  both(t, "are found by what they were", async (c) => {
    const app = await t.app();
    const [good, bad, gone] = [t.hook(200), t.hook(404), t.hook({ action: "reset" })];
    const eps = [];
    for (const hook of [good, bad, gone]) {
      eps.push((await t.endpoint(app, hook)).id);
      await t.options(app, eps.at(-1), quick(1));
    }
    const one = await t.send(app, "type.one", {}, { channels: ["c1"], tags: ["t1"] });
    const two = await t.send(app, "type.two", {}, { channels: ["c2"], tags: ["t2"] });
    for (const { id } of [one, two]) await t.waitAttempts(app, id, 3);
    const count = async (ep, more) => (await c.messageAttempt.listByEndpoint(app, ep, more)).data.length;
    const rows = [
      [eps[0], { status: SUCCESS }, 2],
      [eps[0], { status: FAIL }, 0],
      [eps[1], { status: FAIL }, 2],
      [eps[1], { statusCodeClass: 400 }, 2],
      [eps[1], { statusCodeClass: 500 }, 0],
      [eps[0], { statusCodeClass: 200 }, 2],
      [eps[2], { statusCodeClass: 0 }, 2],
      [eps[0], { channel: "c1" }, 1],
      [eps[0], { tag: "t2" }, 1],
      [eps[0], { tag: "t3" }, 0],
      [eps[0], { eventTypes: ["type.one"] }, 1],
      [eps[0], { eventTypes: ["type.one", "type.two"] }, 2],
      [eps[0], { before: hoursAgo(1) }, 0],
      [eps[0], { after: hoursAgo(1), before: inHours(1) }, 2],
    ];
    for (const [ep, filter, expected] of rows) assert.equal(await count(ep, filter), expected, JSON.stringify(filter));
    const ofOne = (more) => c.messageAttempt.listByMsg(app, one.id, more).then(({ data }) => data.map(({ endpointId }) => endpointId));
    assert.deepEqual((await ofOne({})).toSorted(), eps.toSorted());
    assert.deepEqual(await ofOne({ endpointId: eps[1] }), [eps[1]]);
    assert.deepEqual(await ofOne({ status: SUCCESS }), [eps[0]]);
    await refused(c.messageAttempt.listByMsg(app, one.id, { endpointId: "nobody" }), 404);
  });

  both(t, "are listed by pages", async (c) => {
    const { app, ep, hook } = await t.customer();
    for (let i = 0; i < 5; i += 1) await t.send(app, "x", { i });
    await hook.wait(5);
    const { data } = await c.messageAttempt.listByEndpoint(app, ep);
    assert.equal(data.length, 5);
    const all = data.map(({ id }) => id);
    assert.deepEqual(await pages((page) => c.messageAttempt.listByEndpoint(app, ep, page), 2), all);
  });

  it("may carry their message", async () => {
    const { app, ep, hook } = await t.customer();
    const { id } = await t.send(app, "x", { n: 1 }, { tags: ["t"] });
    await hook.one();
    await t.waitAttempts(app, id, 1);
    const [{ msg }] = (await t.svix.messageAttempt.listByEndpoint(app, ep, { withMsg: true })).data;
    assert.deepEqual([msg.id, msg.eventType, msg.tags], [id, "x", ["t"]]);
    const [bare] = (await t.own("GET", `/app/${app}/attempt/endpoint/${ep}`)).data;
    assert.equal(bare.msg, undefined);
    assert.match(bare.timestamp, TIME);
  });

  it("say why there was no answer", async () => {
    const rows = [
      [{ action: "reset" }, /reset|closed|ended/i],
      [{ action: "hang" }, /^timed out after 1000 ms$/],
    ];
    for (const [answer, text] of rows) {
      const { app, ep } = await t.customer({ answers: [answer], options: { ...quick(1), timeout: 1 } });
      const { id } = await t.send(app);
      const [attempt] = await t.waitAttempts(app, id, 1);
      assert.deepEqual([attempt.responseStatusCode, attempt.status], [0, FAIL]);
      assert.match(attempt.response, text);
      assert.ok(!attempt.response.includes("\n"));
      await t.waitStatus(app, id, ep, FAIL);
    }
    const app = await t.app();
    const ep = (await t.endpoint(app, "http://127.0.0.1:9/")).id;
    await t.options(app, ep, quick(1));
    const { id } = await t.send(app);
    const [attempt] = await t.waitAttempts(app, id, 1);
    assert.match(attempt.response, /connection refused/i);
  });

  it("keep the first 20,000 bytes of an answer", async () => {
    const { app } = await t.customer({ answers: [{ status: 200, body: "y".repeat(50_000) }] });
    const { id } = await t.send(app);
    const [{ response }] = await t.waitAttempts(app, id, 1);
    assert.ok(response.length <= 20_000 && response.length > 19_000, `${response.length}`);
    assert.match(response, /^y+$/);
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    const binary = await t.customer({ answers: [{ status: 200, body: bytes }] });
    const sent = await t.send(binary.app);
    const [attempt] = await t.waitAttempts(binary.app, sent.id, 1);
    assert.equal(attempt.response, bytes.toString("base64")); // 7.1: not UTF-8
  });

  both(t, "show messages of an endpoint with their state", async (c) => {
    const { app, ep, hook } = await t.customer({ answers: [200, 500], options: quick(2, 3600) });
    const done = await t.send(app, "done", { a: 1 });
    await hook.one();
    await t.waitStatus(app, done.id, ep, SUCCESS);
    const retried = await t.send(app, "retried", {}, { tags: ["t"], channels: ["c"] });
    await hook.wait(2);
    await t.waitRetry(app, retried.id, ep);
    await c.endpoint.patch(app, ep, { disabled: true });
    const held = await t.send(app, "held");
    const { data } = await c.messageAttempt.listAttemptedMessages(app, ep, { withContent: true });
    assert.deepEqual(
      data.map(({ id, status, statusText }) => [id, status, statusText]),
      [
        [held.id, PENDING, "pending"],
        [retried.id, SENDING, "sending"],
        [done.id, SUCCESS, "success"],
      ],
    );
    assert.deepEqual([data[2].payload, data[2].nextAttempt ?? null, data[1].tags], [{ a: 1 }, null, ["t"]]);
    const found = async (more) => (await c.messageAttempt.listAttemptedMessages(app, ep, more)).data.map(({ id }) => id);
    assert.deepEqual(await found({ status: PENDING }), [held.id]);
    assert.deepEqual(await found({ status: SENDING }), [retried.id]);
    assert.deepEqual(await found({ status: SUCCESS }), [done.id]);
    assert.deepEqual(await found({ tag: "t" }), [retried.id]);
    assert.deepEqual(await found({ channel: "c" }), [retried.id]);
    assert.deepEqual(await found({ eventTypes: ["held", "done"] }), [held.id, done.id]);
    assert.deepEqual(await pages((page) => c.messageAttempt.listAttemptedMessages(app, ep, page), 1), [held.id, retried.id, done.id]);
  });

  it("show when the next one is", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500], options: quick(2, 600) });
    const { id } = await t.send(app);
    const { at } = await hook.one();
    const { nextAttempt, status } = await t.waitRetry(app, id, ep);
    assert.equal(status, SENDING);
    assert.ok(Math.abs(nextAttempt.getTime() - (at + 600_000)) < 10_000, `${nextAttempt}`);
  });

  both(t, "show the destinations of a message, by id", async (c) => {
    const app = await t.app();
    const hooks = [t.hook(200), t.hook(500), t.hook(200)];
    const eps = [];
    for (const [i, hook] of hooks.entries()) {
      const made = await t.endpoint(app, hook, { disabled: i === 2, uid: `u${i}`, description: `d${i}` });
      await t.options(app, made.id, quick(1));
      eps.push(made.id);
    }
    const { id } = await t.send(app);
    for (const [i, status] of [SUCCESS, FAIL, PENDING].entries()) await t.waitStatus(app, id, eps[i], status);
    const { data } = await c.messageAttempt.listAttemptedDestinations(app, id);
    assert.deepEqual(data.map((one) => one.id), eps.toSorted());
    assert.deepEqual(data.map(({ uid, description }) => [uid, description]), [
      ["u0", "d0"],
      ["u1", "d1"],
      ["u2", "d2"],
    ]);
    const ids = await pages((page) => c.messageAttempt.listAttemptedDestinations(app, id, page), 2);
    assert.deepEqual(ids, eps.toSorted());
  });

  it("show canceled ones as what they are, or as done where a caller knows no better", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const { id } = await t.send(app);
    await t.own("POST", `/app/${app}/endpoint/${ep}/cancel-msgs`, {}, 204);
    await t.waitStatus(app, id, ep, CANCELED);
    const one = async (query) => (await t.own("GET", `/app/${app}/endpoint/${ep}/msg?${query}`)).data.find((msg) => msg.id === id);
    assert.equal((await one("expanded_statuses=true")).status, 4);
    assert.equal((await one("expanded_statuses=false")).status, 0);
    assert.equal((await one("")).status, 0);
  });

  it("are 404 where nothing is", async () => {
    const { app, ep, hook } = await t.customer();
    const { id } = await t.send(app);
    await hook.one();
    const [attempt] = await t.waitAttempts(app, id, 1);
    const other = await t.send(app);
    await refused(t.svix.messageAttempt.listByMsg(app, "nobody"), 404, "not_found");
    await refused(t.svix.messageAttempt.listByEndpoint(app, "nobody"), 404, "not_found");
    await refused(t.svix.messageAttempt.listAttemptedMessages(app, "nobody"), 404, "not_found");
    await refused(t.svix.messageAttempt.listAttemptedDestinations(app, "nobody"), 404, "not_found");
    await refused(t.svix.messageAttempt.get(app, id, `atmpt_${"0".repeat(27)}`), 404, "not_found");
    await refused(t.svix.messageAttempt.get(app, other.id, attempt.id), 404, "not_found"); // 7.1: wrong message
    await t.refusals(
      [
        ["status=5", "status"],
        ["status=x", "status"],
        ["status_code_class=250", "status_code_class"],
        ["before=yesterday", "before"],
        ["limit=0", "limit"],
        ["iterator=x", "iterator"],
      ].flatMap(([query, name]) => [
        [`by endpoint ${query}`, "GET", `/app/${app}/attempt/endpoint/${ep}?${query}`, {}, [`query.${name}`]],
        [`by message ${query}`, "GET", `/app/${app}/attempt/msg/${id}?${query}`, {}, [`query.${name}`]],
      ]),
    );
  });
});

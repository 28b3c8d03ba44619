// Recover, replay-missing, bulk-replay and the replays of the own API (webhooks-api 5.7, 16).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, FAIL, hoursAgo, ID, invalid, pages, quick, SUCCESS, waitFor, world } from "./harness.mjs";

const NUMBER = (one) => JSON.parse(one).n;

describe("replays of the official client", () => {
  const t = world();

  /** A customer with messages 1…count that failed, and the receiver well again. */
  async function failed(count, more = {}) {
    const customer = await t.customer({ answers: [500], options: quick(1), ...more });
    const { app, ep, hook } = customer;
    const ids = [];
    for (let n = 1; n <= count; n += 1) ids.push((await t.send(app, `type.${n % 2}`, { n }, { tags: [`t${n}`], channels: [`c${n % 2}`] })).id);
    for (const id of ids) await t.waitStatus(app, id, ep, FAIL);
    hook.requests.length = 0;
    hook.answers = [{ status: 200 }];
    return { ...customer, ids };
  }

  both(t, "recover what failed, and nothing else", async (c) => {
    const { app, ep, hook, ids } = await failed(4);
    const good = await t.send(app, "x", { n: 5 });
    await t.waitStatus(app, good.id, ep, SUCCESS);
    const task = await c.endpoint.recover(app, ep, { since: hoursAgo(1) });
    assert.match(task.id, ID.qtask);
    assert.equal(task.task, "endpoint.recover");
    assert.ok(task.updatedAt instanceof Date);
    const done = await t.waitTask(task.id);
    assert.equal(done.data.messagesSent, 4);
    for (const id of ids) await t.waitStatus(app, id, ep, SUCCESS);
    assert.deepEqual(hook.bodies.map(NUMBER).sort(), [1, 2, 3, 4, 5]);
    // Each is a new generation of the delivery, under the same id, and marked as manual.
    const attempts = await t.waitAttempts(app, ids[0], 2);
    assert.deepEqual(attempts.map(({ triggerType }) => triggerType), [0, 1]);
  });

  both(t, "replay what an endpoint has missed", async (c) => {
    const type = await t.eventType(t.name("missed"));
    const app = await t.app();
    const sent = [];
    for (let n = 1; n <= 3; n += 1) sent.push((await t.send(app, type, { n })).id);
    await t.send(app, "other", { n: 9 });
    const hook = t.hook();
    const ep = (await t.endpoint(app, hook, { eventTypes: [type] })).id;
    await t.send(app, type, { n: 4 });
    await hook.one();
    const task = await c.endpoint.replayMissing(app, ep, { since: hoursAgo(1) });
    assert.equal(task.task, "endpoint.replay");
    assert.equal((await t.waitTask(task.id)).data.messagesSent, 3);
    await hook.wait(4);
    assert.deepEqual(hook.bodies.map(NUMBER).sort(), [1, 2, 3, 4]);
    const again = await c.endpoint.replayMissing(app, ep, { since: hoursAgo(1) });
    assert.equal((await t.waitTask(again.id)).data.messagesSent, 0);
  });

  both(t, "bulk-replay what matches, whether it succeeded or not", async (c) => {
    const { app, ep, hook } = await failed(4);
    const run = async (more) => {
      hook.requests.length = 0;
      const task = await c.endpoint.bulkReplay(app, ep, { since: hoursAgo(1), ...more });
      assert.equal(task.task, "endpoint.bulk-replay");
      const { data } = await t.waitTask(task.id);
      await hook.wait(data.messagesSent);
      assert.equal(hook.requests.length, data.messagesSent);
      return hook.bodies.map(NUMBER).sort();
    };
    assert.deepEqual(await run({ tag: "t2" }), [2]);
    assert.deepEqual(await run({ eventTypes: ["type.1"] }), [1, 3]);
    assert.deepEqual(await run({ channel: "c0" }), [2, 4]);
    assert.deepEqual(await run({}), [1, 2, 3, 4]);
    assert.deepEqual(await run({ status: FAIL }), []);
    assert.deepEqual(await run({ until: hoursAgo(0.5) }), []);
  });

  it("skip what has no payload any more", async () => {
    const { app, ep, ids } = await failed(3);
    await t.svix.message.expungeContent(app, ids[0]);
    const task = await t.svix.endpoint.recover(app, ep, { since: hoursAgo(1) });
    const { data } = await t.waitTask(task.id);
    assert.deepEqual([data.messagesSent, data.skipped], [2, 1]);
  });

  it("are refused with times that make no range", async () => {
    const { app, ep } = await t.customer();
    const now = new Date();
    await invalid(t.svix.endpoint.recover(app, ep, { since: now, until: hoursAgo(1) }), "body.since");
    const rows = ["recover", "replay-missing", "bulk-replay"].flatMap((call) => [
      [`${call} without since`, "POST", `/app/${app}/endpoint/${ep}/${call}`, { body: {} }, ["body.since"]],
      [`${call} with no time`, "POST", `/app/${app}/endpoint/${ep}/${call}`, { body: { since: "soon" } }, ["body.since"]],
      [`${call} of nobody`, "POST", `/app/${app}/endpoint/nobody/${call}`, { body: { since: hoursAgo(1) } }, 404],
    ]);
    rows.push(["a status", "POST", `/app/${app}/endpoint/${ep}/bulk-replay`, { body: { since: hoursAgo(1), status: 7 } }, ["body.status"]]);
    await t.refusals(rows);
  });
});

describe("replays of the own API", () => {
  const t = world();
  const start = (body, status = 202) => t.own("POST", "/webhooks/replays", { since: hoursAgo(1).toISOString(), ...body }, status);
  const get = (id) => t.own("GET", `/webhooks/replays/${id}`);
  const ended = (id) => waitFor(async () => ["finished", "canceled", "failed"].includes((await get(id)).status) && get(id), `${id} to end`);

  async function customer(count, options = {}) {
    const made = await t.customer({ options: { ...quick(1), ...options } });
    for (let n = 1; n <= count; n += 1) await t.send(made.app, "x", { n });
    await made.hook.wait(count);
    for (const { id } of (await t.svix.message.list(made.app, { limit: 250 })).data) await t.waitStatus(made.app, id, made.ep, SUCCESS);
    made.hook.requests.length = 0;
    return made;
  }

  it("count before they do anything", async () => {
    const { app, hook } = await customer(3);
    const dry = await start({ app, dryRun: true }, 200);
    assert.deepEqual([dry.matched, typeof dry.bytes], [3, "number"]);
    assert.ok(new Date(dry.oldest) <= new Date(dry.newest));
    const none = await start({ app, dryRun: true, filter: { status: ["fail"] } }, 200);
    assert.equal(none.matched, 0);
    assert.equal(hook.requests.length, 0);
  });

  it("go oldest first, at their speed, and say where they are", async () => {
    const { app, hook } = await customer(6);
    const replay = await start({ app, rate: 4, order: "oldest" });
    assert.match(replay.id, ID.rpl);
    assert.deepEqual([replay.status, replay.rate], ["running", 4]);
    const done = await ended(replay.id);
    assert.deepEqual([done.status, done.matched, done.queued, done.succeeded, done.failed, done.skipped], ["finished", 6, 6, 6, 0, 0]);
    assert.ok(done.finishedAt && done.createdAt && done.updatedAt);
    assert.deepEqual(hook.bodies.map(NUMBER), [1, 2, 3, 4, 5, 6]);
    assert.ok(hook.requests[5].at - hook.requests[0].at >= 1000, "4 a second");
    const list = await t.own("GET", "/webhooks/replays");
    assert.equal(list.replays.find(({ id }) => id === replay.id).status, "finished");
    // It is a task under another name.
    const task = await t.own("GET", `/tasks/${replay.id.replace("rpl_", "tsk_")}`);
    assert.match(JSON.stringify(task), /SUCCEEDED/);
  });

  it("fix their set when they are asked for", async () => {
    const { app, hook } = await customer(4);
    const { id } = await start({ app, rate: 2 });
    await hook.one();
    await t.send(app, "x", { n: 99 });
    const done = await ended(id);
    assert.deepEqual([done.matched, done.succeeded], [4, 4]);
    assert.deepEqual(hook.bodies.map(NUMBER).filter((n) => n === 99), [99]);
  });

  it("can be paused, resumed, made faster and canceled", async () => {
    const { app, hook } = await customer(8);
    const { id } = await start({ app, rate: 1 });
    await hook.one();
    assert.equal((await t.own("POST", `/webhooks/replays/${id}/pause`, {}, 200)).status, "paused");
    await t.settle();
    const here = hook.requests.length;
    await t.settle();
    assert.ok(hook.requests.length <= here + 1, "it goes on");
    assert.equal((await t.own("PATCH", `/webhooks/replays/${id}`, { rate: 1000 }, 200)).rate, 1000);
    assert.equal((await t.own("POST", `/webhooks/replays/${id}/resume`, {}, 200)).status, "running");
    const done = await ended(id);
    assert.deepEqual([done.status, done.succeeded], ["finished", 8]);
    assert.equal(hook.requests.length, 8);
    const other = await start({ app, rate: 0.1 });
    await t.own("POST", `/webhooks/replays/${other.id}/cancel`, {}, 200);
    assert.equal((await ended(other.id)).status, "canceled");
  });

  it("may go to another endpoint", async () => {
    const { app, ep, hook } = await customer(2);
    const elsewhere = t.hook();
    const to = (await t.endpoint(app, elsewhere)).id;
    const { id } = await start({ app, endpoints: [ep], redirectTo: to });
    await ended(id);
    assert.deepEqual(elsewhere.bodies.map(NUMBER).sort(), [1, 2]);
    assert.equal(hook.requests.length, 0);
  });

  it("outlive kill -9: none twice, none left out", async () => {
    const { app, hook } = await customer(20);
    const { id } = await start({ app, rate: 20 });
    await hook.wait(4);
    await t.server.restart();
    const done = await ended(id);
    assert.deepEqual([done.status, done.matched, done.succeeded], ["finished", 20, 20]);
    const counts = new Map();
    for (const n of hook.bodies.map(NUMBER)) counts.set(n, (counts.get(n) ?? 0) + 1);
    assert.equal(counts.size, 20);
    // At least once: only what was under way at the kill may have come again.
    assert.ok(hook.requests.length <= 20 + 5, `${hook.requests.length}`);
  });

  it("are refused where they make no sense", async () => {
    const { app, ep } = await customer(1);
    const since = hoursAgo(1).toISOString();
    const rows = [
      [{}, "/app"],
      [{ app }, "/since"],
      [{ app, since: "soon" }, "/since"],
      [{ app, since, until: hoursAgo(2).toISOString() }, undefined],
      [{ app, since, rate: 0 }, "/rate"],
      [{ app, since, rate: 10001 }, "/rate"],
      [{ app, since, order: "sideways" }, "/order"],
      [{ app, since, filter: { status: ["odd"] } }, undefined],
      [{ app, since, endpoints: "x" }, "/endpoints"],
    ];
    for (const [body, pointer] of rows) {
      const answer = await t.raw("POST", "/api/v1/webhooks/replays", { body });
      const about = `${JSON.stringify(body)}: ${answer.status} ${answer.text}`;
      assert.equal(answer.status, 422, about);
      assert.equal(answer.headers["content-type"], "application/problem+json", about);
      if (pointer) assert.ok(answer.json().errors.some((one) => one.pointer === pointer), about);
    }
    assert.equal((await t.raw("POST", "/api/v1/webhooks/replays", { body: { app: "nobody", since } })).status, 404);
    assert.equal((await t.raw("GET", `/api/v1/webhooks/replays/rpl_${"0".repeat(27)}`)).status, 404);
    assert.deepEqual(await pages((page) => t.svix.endpoint.list(app, page), 10), [ep]);
  });
});

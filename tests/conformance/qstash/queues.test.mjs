// The queues themselves: create, read, widen, pause, delete.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, refused, waitFor, world } from "./harness.mjs";

describe("queues", () => {
  const t = world();

  const queue = (kind = "queue") => t.client.queue({ queueName: t.name(kind) });

  it("are created, shown, listed and deleted", async () => {
    const one = queue();
    await one.upsert({ parallelism: 2 });

    const shown = await one.get();
    assert.deepEqual(Object.keys(shown).sort(), ["createdAt", "lag", "name", "parallelism", "paused", "updatedAt"]);
    assert.equal(shown.name, one.queueName);
    assert.equal(shown.parallelism, 2);
    assert.equal(shown.lag, 0);
    assert.equal(shown.paused, false);
    assertRecent(shown.createdAt);
    assertRecent(shown.updatedAt);
    assert.deepEqual(
      (await t.client.queue().list()).find(({ name }) => name === one.queueName),
      shown,
    );

    await one.delete();
    await refused(one.get(), 404);
    assert.equal(
      (await t.client.queue().list()).some(({ name }) => name === one.queueName),
      false,
    );
    await one.delete();
  });

  it("are changed by a second upsert", async () => {
    const one = queue();
    await one.upsert({ parallelism: 2, paused: true });
    const before = await one.get();
    assert.equal(before.paused, true);

    await one.upsert({ parallelism: 5, paused: false });

    const after = await one.get();
    assert.equal(after.parallelism, 5);
    assert.equal(after.paused, false);
    assert.equal(after.createdAt, before.createdAt);
    assert.ok(after.updatedAt >= before.updatedAt);
  });

  it("have parallelism 1 and run unless told otherwise", async () => {
    const name = t.name("queue");
    assert.equal((await t.raw("POST", "/v2/queues", { body: { queueName: name } })).status, 200);

    const shown = await t.client.queue({ queueName: name }).get();
    assert.equal(shown.parallelism, 1);
    assert.equal(shown.paused, false);
  });

  it("are made by their first message", async () => {
    const one = queue();
    const hook = t.hook();

    await one.enqueue({ url: hook.url, body: "x" });

    await hook.one();
    assert.equal((await one.get()).parallelism, 1);
  });

  it("are listed with and without a slash at the end", async () => {
    await queue().upsert({});

    assert.deepEqual((await t.raw("GET", "/v2/queues/")).json(), (await t.raw("GET", "/v2/queues")).json());
  });

  it("count what is not finished in lag, exactly", async () => {
    const one = queue();
    const hook = t.hook().hold();
    for (let i = 0; i < 3; i += 1) await one.enqueue({ url: hook.url, body: `${i}` });
    await hook.one();
    assert.equal((await one.get()).lag, 3);

    hook.release(1);
    await hook.wait(2);
    await waitFor(async () => (await one.get()).lag === 2, "a lag of 2");

    hook.release();
    await waitFor(async () => (await one.get()).lag === 0, "a lag of 0");
  });

  it("deliver as many at once as their parallelism says, never more", async () => {
    const one = queue();
    const hook = t.hook().hold();
    await one.upsert({ parallelism: 3 });

    for (let i = 0; i < 8; i += 1) await one.enqueue({ url: hook.url, body: `${i}` });

    await waitFor(
      () => hook.running === 3,
      () => `3 at once; there were ${hook.running}`,
    );
    await t.settle();
    assert.equal(hook.running, 3);
    hook.release();
    await hook.wait(8);
    assert.equal(hook.runningMax, 3);
  });

  it("start more when they are widened", async () => {
    const one = queue();
    const hook = t.hook().hold();
    for (let i = 0; i < 4; i += 1) await one.enqueue({ url: hook.url, body: `${i}` });
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);

    await one.upsert({ parallelism: 4 });

    await waitFor(
      () => hook.running === 4,
      () => `4 at once; there were ${hook.running}`,
    );
    hook.release();
  });

  it("start nothing while paused, and continue with the oldest", async () => {
    const one = queue();
    const hook = t.hook();
    await one.upsert({});
    await one.pause();
    await one.pause();
    assert.equal((await one.get()).paused, true);
    for (const body of ["1", "2", "3"]) await one.enqueue({ url: hook.url, body });
    await t.settle();
    assert.equal(hook.requests.length, 0);
    assert.equal((await one.get()).lag, 3);

    await one.resume();
    await one.resume();

    await hook.wait(3);
    assert.deepEqual(hook.bodies, ["1", "2", "3"]);
    assert.equal((await one.get()).paused, false);
  });

  it("finish what runs when they are paused", async () => {
    const one = queue();
    const hook = t.hook().hold();
    const first = await one.enqueue({ url: hook.url, body: "1" });
    await one.enqueue({ url: hook.url, body: "2" });
    await hook.one();

    await one.pause();
    hook.release();

    await t.waitStates(first.messageId, "CREATED", "ACTIVE", "DELIVERED");
    await t.settle();
    assert.deepEqual(hook.bodies, ["1"]);
    await one.resume();
    await hook.wait(2);
  });

  it("cancel what waits when they are deleted", async () => {
    const one = queue();
    const hook = t.hook();
    await one.upsert({ paused: true });
    const { messageId } = await one.enqueue({ url: hook.url, body: "x" });

    await one.delete();

    await waitFor(async () => (await t.states(messageId)).at(-1) === "CANCELED", `${messageId} to be cancelled`);
    await t.settle();
    assert.equal(hook.requests.length, 0);
  });

  it("take back a dead letter that is retried", async () => {
    const one = queue();
    const hook = t.hook(500, 200);
    const { messageId } = await one.enqueue({ url: hook.url, body: "x", retries: 0 });
    const { dlqId } = await t.waitDeadLetter(messageId);

    const { responses } = await t.client.dlq.retry(dlqId);

    await hook.wait(2);
    assert.equal((await t.client.messages.get(responses[0].messageId)).queueName, one.queueName);
  });

  it("send a URL group's messages through the queue", async () => {
    const [a, b] = [t.hook(), t.hook()];
    const name = t.name("group");
    const one = queue();
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a.url }, { url: b.url }] });

    const answers = await one.enqueue({ urlGroup: name, body: "x" });

    assert.deepEqual(
      answers.map(({ url }) => url),
      [a.url, b.url],
    );
    await a.one();
    await b.one();
    assert.equal((await t.client.messages.get(answers[1].messageId)).queueName, one.queueName);
  });

  it("need the token", async () => {
    const name = t.name("queue");
    await t.client.queue({ queueName: name }).upsert({});

    await t.needToken(
      ["GET", "/v2/queues"],
      ["POST", "/v2/queues"],
      ["GET", `/v2/queues/${name}`],
      ["DELETE", `/v2/queues/${name}`],
      ["POST", `/v2/queues/${name}/pause`],
      ["POST", `/v2/queues/${name}/resume`],
    );

    assert.equal((await t.client.queue({ queueName: name }).get()).paused, false);
  });

  it("are refused when they make no sense", async () => {
    const put = (name, body) => [
      name,
      "POST",
      "/v2/queues",
      { body, headers: { "Content-Type": "application/json" } },
      400,
    ];
    await t.refusals([
      put("no body", ""),
      put("not JSON", "x"),
      put("an array", "[]"),
      put("null", "null"),
      put("no name", { parallelism: 1 }),
      put("name: number", { queueName: 5 }),
      put("name: empty", { queueName: "" }),
      put("name: space", { queueName: "a b" }),
      put("name: slash", { queueName: "a/b" }),
      put("name: umlaut", { queueName: "ä" }),
      put("parallelism 0", { queueName: "bad", parallelism: 0 }),
      put("parallelism -1", { queueName: "bad", parallelism: -1 }),
      put("parallelism 1.5", { queueName: "bad", parallelism: 1.5 }),
      put("parallelism: text", { queueName: "bad", parallelism: "2" }),
      put("parallelism: huge", { queueName: "bad", parallelism: 1e30 }),
      put("name: too long", { queueName: "q".repeat(257) }),
      put("unknown member", { queueName: "bad", parallelims: 2 }),
      put("paused: text", { queueName: "bad", paused: "yes" }),
      put("paused: number", { queueName: "bad", paused: 1 }),
      ["unknown queue", "GET", "/v2/queues/nobody", {}, 404],
      ["bad name", "GET", "/v2/queues/a%20b", {}, 400],
      ["pause unknown", "POST", "/v2/queues/nobody/pause", {}, 404],
      ["resume unknown", "POST", "/v2/queues/nobody/resume", {}, 404],
      ["delete bad name", "DELETE", "/v2/queues/a%20b", {}, 400],
      ["method", "PUT", "/v2/queues/nobody", {}, 405],
    ]);
    assert.equal(
      (await t.client.queue().list()).some(({ name }) => name === "bad"),
      false,
    );
  });
});

// queue().enqueue and enqueueJSON: in order of acceptance, one at a time.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, world } from "./harness.mjs";

describe("enqueue", () => {
  const t = world();

  it("answers as publish does and shows the queue", async () => {
    const hook = t.hook();
    const queueName = t.name("queue");

    const answer = await t.client
      .queue({ queueName })
      .enqueueJSON({ url: `${hook.url}?a=b`, body: { q: 1 }, method: "PUT", headers: { "X-A": "1" } });

    assert.match(answer.messageId, /^msg_/);
    assert.equal(answer.url, `${hook.url}?a=b`);
    const request = await hook.one();
    assert.equal(request.method, "PUT");
    assert.equal(request.text, '{"q":1}');
    assert.equal(request.headers["x-a"], "1");
    assert.equal(request.headers["content-type"], "application/json");
    await t.verified(request);
    assert.equal((await t.client.messages.get(answer.messageId)).queueName, queueName);
    await t.waitStates(answer.messageId, "CREATED", "ACTIVE", "DELIVERED");
    for (const entry of await t.log(answer.messageId)) assert.equal(entry.queueName, queueName);
  });

  it("delivers in order, one at a time", async () => {
    const hook = t.hook();
    const queue = t.client.queue({ queueName: t.name("queue") });

    for (let i = 0; i < 20; i += 1) await queue.enqueue({ url: hook.url, body: `${i}` });

    await hook.wait(20);
    assert.deepEqual(
      hook.bodies,
      Array.from({ length: 20 }, (_, i) => `${i}`),
    );
    assert.equal(hook.runningMax, 1);
  });

  it("does not overtake a message that is being retried", async () => {
    const hook = t.hook(500, 500, 200);
    const queue = t.client.queue({ queueName: t.name("queue") });

    for (const body of ["1", "2", "3"]) await queue.enqueue({ url: hook.url, body, retries: 3, retryDelay: "150" });

    await hook.wait(5);
    assert.deepEqual(hook.bodies, ["1", "1", "1", "2", "3"]);
  });

  it("goes on when a message has failed for good", async () => {
    const [bad, good] = [t.hook(500), t.hook()];
    const queueName = t.name("queue");
    const queue = t.client.queue({ queueName });

    const { messageId } = await queue.enqueue({ url: bad.url, body: "x", retries: 0 });
    await queue.enqueue({ url: good.url, body: "y" });

    await good.one();
    assert.equal((await t.waitDeadLetter(messageId)).queueName, queueName);
  });

  it("goes on when the one in front is cancelled, running or waiting", async () => {
    const hook = t.hook().hold();
    const queue = t.client.queue({ queueName: t.name("queue") });
    const ids = [];
    for (const body of ["running", "waiting", "last"])
      ids.push((await queue.enqueue({ url: hook.url, body, retries: 0 })).messageId);
    await hook.one();

    assert.deepEqual(await t.client.messages.cancel(ids[1]), { cancelled: 1 });
    hook.release();

    await hook.wait(2);
    assert.deepEqual(hook.bodies, ["running", "last"]);
  });

  it("keeps queues apart from each other and from plain messages", async () => {
    const [stuck, other, plain] = [t.hook().hold(), t.hook(), t.hook()];
    await t.client.queue({ queueName: t.name("queue") }).enqueue({ url: stuck.url, body: "x" });
    await stuck.one();

    await t.client.queue({ queueName: t.name("queue") }).enqueue({ url: other.url, body: "x" });
    await t.client.publish({ url: plain.url, body: "x" });

    await other.one();
    await plain.one();
    stuck.release();
  });

  it("takes Upstash-Queue-Name on publish for the same", async () => {
    const messageId = (
      await t.client.publish({ url: t.hook().url, body: "x", headers: { "Upstash-Queue-Name": "by-header" } })
    ).messageId;

    assert.equal((await t.client.messages.get(messageId)).queueName, "by-header");
  });

  it("deduplicates", async () => {
    const hook = t.hook();
    const queue = t.client.queue({ queueName: t.name("queue") });
    const request = { url: hook.url, body: "x", deduplicationId: t.name("dedup") };

    const first = await queue.enqueue(request);
    const second = await queue.enqueue(request);

    assert.equal(second.messageId, first.messageId);
    assert.equal(second.deduplicated, true);
  });

  it("applies flow control beside the queue", async () => {
    const hook = t.hook();
    const key = t.name("key");

    const { messageId } = await t.client
      .queue({ queueName: t.name("queue") })
      .enqueue({ url: hook.url, body: "x", flowControl: { key, parallelism: 1 } });

    await hook.one();
    assert.equal((await t.client.messages.get(messageId)).flowControlKey, key);
  });

  it("refuses what a queue cannot do", async () => {
    const hook = t.hook();
    const at = (queue, destination, headers, status, pattern) => [
      "POST",
      `/v2/enqueue/${queue}/${destination}`,
      { body: "x", headers },
      status,
      pattern,
    ];
    await t.refusals([
      ["delay", ...at("q", hook.url, { "Upstash-Delay": "1s" }, 400, /Delay/i)],
      ["not before", ...at("q", hook.url, { "Upstash-Not-Before": "99999" }, 400, /Not-Before/i)],
      ["delay as parameter", ...at("q", `${hook.url}?upstash-delay=1s`, {}, 400, /Delay/i)],
      ["space in the name", ...at("a%20b", hook.url, {}, 400, /queue/i)],
      ["slash in the name", ...at("a%2Fb", hook.url, {}, 400, /queue/i)],
      ["no destination", ...at("q", "", {}, 400)],
      ["no scheme", ...at("q", "127.0.0.1/x", {}, 400)],
      ["unknown group", ...at("q", "no-such-group", {}, 404)],
      ["retries", ...at("q", hook.url, { "Upstash-Retries": "x" }, 400, /Retries/i)],
    ]);
    await refused(t.client.queue({ queueName: "q" }).enqueue({ url: hook.url, delay: 5 }), 400, /Delay/i);
    await assert.rejects(t.client.queue().enqueue({ url: hook.url }), /queue name/);
    assert.deepEqual((await t.client.logs({ filter: { url: hook.url } })).logs, []);
  });
});

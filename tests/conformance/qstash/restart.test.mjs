// kill -9 in the middle: what was accepted is delivered, what was known is known.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, waitFor, world } from "./harness.mjs";

describe("restart in the middle", () => {
  const t = world();

  it("delivers what was accepted and not delivered", async () => {
    const hook = t.hook().hold();
    const ids = [];
    for (let i = 0; i < 10; i += 1)
      ids.push((await t.client.publish({ url: hook.url, body: `${i}`, retries: 0 })).messageId);

    await t.server.restart();
    hook.release();

    await waitFor(
      () => new Set(hook.requests.map(({ headers }) => headers["upstash-message-id"])).size === 10,
      "ten messages",
    );
    for (const id of ids)
      await waitFor(async () => (await t.states(id)).at(-1) === "DELIVERED", `${id} to be delivered`);
  });

  it("keeps delays, retries, labels and bodies", async () => {
    const bytes = Buffer.from([1, 2, 255]);
    const request = {
      body: bytes,
      label: ["a", "b"],
      retries: 9,
      retryDelay: "7",
      headers: { "X-A": "1" },
      flowControl: { key: "kept", parallelism: 3 },
    };
    const messageId = await t.waiting(request);
    const before = await t.client.messages.get(messageId);

    await t.server.restart();

    assert.deepEqual(await t.client.messages.get(messageId), before);
    assert.deepEqual(await t.states(messageId), ["CREATED"]);
    assert.deepEqual(await t.client.messages.cancel(messageId), { cancelled: 1 });
  });

  it("delivers what falls due while the server is down", async () => {
    let hook;
    // Usually the first round: the next ones are for a machine that is too slow to kill the server within the delay.
    for (let delay = 1; ; delay *= 2) {
      hook = t.hook();
      const { messageId } = await t.client.publish({ url: hook.url, body: "x", delay });
      const { notBefore } = await t.client.messages.get(messageId);
      await t.server.kill();
      const early = Date.now() < notBefore - 50;
      await new Promise((resolve) => setTimeout(resolve, notBefore + 100 - Date.now()));
      if (early) break;
      await t.server.start();
    }
    assert.equal(hook.requests.length, 0);

    await t.server.start();

    await t.verified(await hook.one());
  });

  it("goes on with retries where they were", async () => {
    const hook = t.hook(500, 200);
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 3, retryDelay: "1500" });
    await waitFor(async () => (await t.states(messageId)).includes("RETRY"), `${messageId} to be retried`);

    await t.server.restart();

    await waitFor(async () => (await t.states(messageId)).at(-1) === "DELIVERED", `${messageId} to be delivered`);
    const [first, ...others] = hook.requests.map(({ headers }) => headers["upstash-retried"]);
    assert.equal(first, "0");
    // One, unless the kill came so late that it cut off the retry.
    assert.ok(others.length === 1 || others.length === 2, `${others}`);
    for (const retried of others) assert.equal(retried, "1");
    const states = await t.states(messageId);
    assert.deepEqual(states.slice(0, 4), ["CREATED", "ACTIVE", "ERROR", "RETRY"]);
    assert.equal(states.filter((state) => state === "ERROR").length, 1);
  });

  it("keeps the order of a queue", async () => {
    const hook = t.hook().hold();
    const queue = t.client.queue({ queueName: "restart" });
    for (let i = 0; i < 10; i += 1) await queue.enqueue({ url: hook.url, body: `${i}` });
    await hook.one();

    await t.server.restart();
    hook.release();

    await waitFor(() => hook.bodies.at(-1) === "9", "the last message");
    // The one in flight at the kill may come twice; no other, and none out of order.
    assert.deepEqual(
      hook.bodies.filter((body, index) => body !== "0" || index === 0),
      Array.from({ length: 10 }, (_, i) => `${i}`),
    );
  });

  it("remembers deduplication ids, dead letters and cancellations", async () => {
    const request = { url: t.hook().url, body: "x", deduplicationId: "over a restart" };
    const first = await t.client.publish(request);
    const entry = await t.deadLetter({ body: "dead" });
    const messageId = await t.waiting();
    await t.client.messages.cancel(messageId);

    await t.server.restart();

    assert.deepEqual(await t.client.publish(request), {
      messageId: first.messageId,
      url: request.url,
      deduplicated: true,
    });
    const { messages } = await t.client.dlq.listMessages({ filter: { messageId: entry.messageId } });
    assert.deepEqual(messages, [entry]);
    await t.waitStates(messageId, "CREATED", "CANCEL_REQUESTED", "CANCELED");
    await refused(t.client.messages.cancel(messageId), 404);
  });

  it("loses no message that was acknowledged while clients go on publishing", async () => {
    const hook = t.hook();
    // The client's own retries carry it over the time in which there is no server.
    const client = t.connect({ retry: { retries: 2000, backoff: () => 50 } });
    const publish = async (body) => {
      for (;;) {
        try {
          return await client.publish({ url: hook.url, body, deduplicationId: body });
        } catch (error) {
          if (error.status !== 503) throw error; // It is starting: the client leaves that to the application.
        }
      }
    };
    const acknowledged = new Map();
    let stop = false;
    const publishers = Array.from({ length: 8 }, async (_, who) => {
      for (let i = 0; !stop; i += 1) {
        const body = `${who}-${i}`;
        acknowledged.set((await publish(body)).messageId, body);
      }
    });

    for (let round = 1; round <= 3; round += 1) {
      const enough = acknowledged.size + 40;
      await waitFor(() => acknowledged.size >= enough, `round ${round}: ${enough} acknowledgements`);
      await t.server.restart();
    }
    stop = true;
    await Promise.all(publishers);

    const arrived = () => new Map(hook.requests.map(({ headers, text }) => [headers["upstash-message-id"], text]));
    await waitFor(
      () => [...acknowledged.keys()].every((id) => arrived().has(id)),
      () => `all ${acknowledged.size} acknowledged messages; ${arrived().size} came`,
    );
    for (const [id, body] of acknowledged) assert.equal(arrived().get(id), body);
    // A client that repeats a request under the same deduplication id gets the same message.
    assert.equal(new Set(arrived().values()).size, arrived().size);
  });
});

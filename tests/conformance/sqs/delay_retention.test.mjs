// When a message becomes visible for the first time, and when it is gone for good.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertNotBefore, refused, sleep, TOGETHER, waitFor, world } from "./harness.mjs";

describe("delay and retention", TOGETHER, () => {
  const t = world();

  /** The next message's body; it did not come within `seconds` of `since`. */
  async function notWithin(queue, since, seconds) {
    const { Body } = await queue.take();
    assertNotBefore(Date.now(), since + seconds * 1000);
    return Body;
  }

  describe("delays", TOGETHER, () => {
    it("hides a message for its delay, and counts it as delayed", async () => {
      const queue = await t.queue();
      const since = Date.now();
      await queue.send("x", { DelaySeconds: 1 });
      assert.equal(await notWithin(queue, since, 1), "x");

      await queue.send("much later", { DelaySeconds: 900 });
      assert.deepEqual(await queue.counts(), [0, 1, 1]);
      assert.deepEqual(await queue.receive(), []);
    });

    it("uses the queue's delay, unless the message has its own, 0 included", async () => {
      const queue = await t.queue({ DelaySeconds: "900" });
      await queue.send("queue's");
      await queue.send("none", { DelaySeconds: 0 });
      const since = Date.now();
      await queue.send("own", { DelaySeconds: 1 });
      assert.equal((await queue.take()).Body, "none");
      assert.equal(await notWithin(queue, since, 1), "own");
      assert.deepEqual(await queue.counts(), [0, 2, 1]);
    });

    it("delays by the queue's delay", async () => {
      const queue = await t.queue({ DelaySeconds: "1" });
      const since = Date.now();
      await queue.send("x");
      assert.equal(await notWithin(queue, since, 1), "x");
    });

    it("changes the delay of later messages only", async () => {
      const queue = await t.queue({ DelaySeconds: "900" });
      await queue.send("before");
      await queue.set({ DelaySeconds: "0" });
      await queue.send("after");
      assert.deepEqual(await queue.bodies(), ["after"]);
      assert.deepEqual(await queue.counts(), [0, 1, 1]);
      await queue.set({ DelaySeconds: "900" });
      assert.deepEqual(await queue.counts(), [0, 1, 1]);
    });

    it("is over before a visibility timeout begins", async () => {
      const queue = await t.queue({ DelaySeconds: "1" });
      await queue.send("x");
      const message = await queue.take();
      await queue.change(message, 0);
      assert.deepEqual(await queue.bodies(), ["x"]);
    });

    it("delays in a FIFO queue by the queue's delay alone", async () => {
      const queue = await t.fifo({ DelaySeconds: "1" });
      for (const DelaySeconds of [1, 5])
        await refused(queue.sendTo("g", "x", { DelaySeconds }), "InvalidParameterValue");
      const since = Date.now();
      await queue.sendTo("g", "zero", { DelaySeconds: 0 });
      assert.equal(await notWithin(queue, since, 1), "zero");
    });

    it("lets a FIFO group wait behind a delayed message, and changes the delay of those that wait", async () => {
      const queue = await t.fifo({ DelaySeconds: "900" });
      await queue.sendTo("g", "first");
      await queue.sendTo("g", "second");
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(await queue.counts(), [0, 0, 2]);
      await queue.set({ DelaySeconds: "0" });
      await queue.sendTo("g", "third");
      const got = await queue.drain(3);
      assert.deepEqual(
        got.map(({ Body }) => Body),
        ["first", "second", "third"],
      );
    });

    it("refuses delays out of range", async () => {
      const queue = await t.queue();
      for (const DelaySeconds of [-1, 901]) await refused(queue.send("x", { DelaySeconds }), "InvalidParameterValue");
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });
  });

  describe("retention", TOGETHER, () => {
    it("forgets messages in every state after the shortest retention, also when it was shortened later, and dead letters", async () => {
      const sixty = await t.queue({ MessageRetentionPeriod: "60" });
      const shortened = await t.queue();
      const kept = await t.queue();
      const held = new Map();
      for (const queue of [sixty, shortened, kept]) {
        await queue.send("in flight");
        held.set(queue, await queue.take({ VisibilityTimeout: 40_000 }));
        await queue.send("visible");
        await queue.send("delayed", { DelaySeconds: 900 });
      }
      // A dead letter's time counts from when it was sent, not from when it was moved.
      const { queue: source, dead } = await t.withDeadLetters(1);
      await dead.set({ MessageRetentionPeriod: "60" });
      await source.send("dead letter");
      const sent = Date.now();
      await source.take();
      await sleep(10_000);
      assert.deepEqual(await source.receive(), []);
      await sleep(sent + 61_500 - Date.now());
      assert.deepEqual(await dead.receive(), []);
      await shortened.set({ MessageRetentionPeriod: "60" });

      for (const queue of [sixty, shortened]) {
        assert.deepEqual(await queue.receive(), []);
        await waitFor(
          async () => `${await queue.counts()}` === "0,0,0",
          async () => `nothing to be left; there is ${await queue.counts()}`,
        );
      }
      await sixty.delete(held.get(sixty));
      await refused(sixty.change(held.get(sixty), 10), "InvalidParameterValue");
      assert.deepEqual(await kept.counts(), [1, 1, 1]);
      await kept.delete(held.get(kept));
    });
  });
});

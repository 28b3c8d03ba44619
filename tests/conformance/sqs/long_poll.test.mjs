// Receives that wait: what ends the wait, and that no message goes to somebody who left.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SQS } from "@aws-sdk/client-sqs";
import { assertNotBefore, IN_TURN, LONG, refused, sleep, TOGETHER, waitFor, world } from "./harness.mjs";

/** A wait that something ends is far shorter than what it could have lasted. */
const AT_ONCE_MS = 15_000;

describe("long polling", TOGETHER, () => {
  const t = world();

  /** Starts to wait, does it, and gives what came; it came because of what was done and not because the time was over. */
  async function wokenBy(queue, action, more = {}) {
    const waiting = queue.receive({ WaitTimeSeconds: LONG, ...more });
    await sleep(300); // so that it waits by then; if it does not yet, the message is there at once, which is right as well
    await action();
    const since = Date.now();
    const messages = await waiting;
    assert.ok(Date.now() - since < AT_ONCE_MS, `it came after ${Date.now() - since} ms`);
    return messages.map(({ Body }) => Body);
  }

  describe("wakes", TOGETHER, () => {
    it("when a message is sent", async () => {
      const queue = await t.queue();
      assert.deepEqual(await wokenBy(queue, () => queue.send("x")), ["x"]);
    });

    it("with what is there then, without waiting for more", async () => {
      const queue = await t.queue();
      const bodies = await wokenBy(queue, () => queue.fill("a", "b", "c"), { MaxNumberOfMessages: 2 });
      assert.deepEqual(bodies, ["a", "b"].slice(0, bodies.length));
      assert.ok(bodies.length >= 1);
      assert.deepEqual((await queue.counts())[1], bodies.length);
    });

    it("when a delay is over", async () => {
      const queue = await t.queue();
      const before = Date.now();
      assert.deepEqual(await wokenBy(queue, () => queue.send("x", { DelaySeconds: 1 })), ["x"]);
      assertNotBefore(Date.now(), before + 1000);
    });

    it("when a visibility timeout is over", async () => {
      const queue = await t.queue();
      await queue.send("x");
      const before = Date.now();
      await queue.take({ VisibilityTimeout: 1 });
      assert.deepEqual(await wokenBy(queue, () => {}), ["x"]);
      assertNotBefore(Date.now(), before + 1000);
    });

    it("when a message is given back", async () => {
      const queue = await t.queue();
      await queue.send("x");
      const message = await queue.take();
      assert.deepEqual(await wokenBy(queue, () => queue.change(message, 0)), ["x"]);
    });

    it("when a delete opens a group", async () => {
      const queue = await t.fifo();
      await queue.sendTo("g", "a");
      await queue.sendTo("g", "b");
      const message = await queue.take();
      assert.deepEqual(await wokenBy(queue, () => queue.delete(message)), ["b"]);
    });

    it("when a message goes to the dead-letter queue that is polled", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await queue.send("x");
      await queue.take();
      assert.deepEqual(await wokenBy(dead, () => queue.receive()), ["x"]);
    });

    it("with an error when its queue is deleted", async () => {
      const queue = await t.queue();
      const waiting = queue.receive({ WaitTimeSeconds: LONG });
      waiting.catch(() => {});
      await sleep(300);
      await t.sqs.deleteQueue({ QueueUrl: queue.url });
      await refused(waiting, "QueueDoesNotExist");
    });
  });

  describe("waits", TOGETHER, () => {
    it("as long as asked for and answers empty", async () => {
      const queue = await t.queue();
      const before = Date.now();
      assert.deepEqual(await queue.receive({ WaitTimeSeconds: 1 }), []);
      assertNotBefore(Date.now(), before + 1000);
    });

    it("as long as the queue says, unless 0 is asked for", async () => {
      const queue = await t.queue({ ReceiveMessageWaitTimeSeconds: "1" });
      const before = Date.now();
      assert.deepEqual(await queue.receive({ WaitTimeSeconds: undefined }), []);
      assertNotBefore(Date.now(), before + 1000);

      await queue.set({ ReceiveMessageWaitTimeSeconds: "20" });
      const since = Date.now();
      assert.deepEqual(await queue.receive({ WaitTimeSeconds: 0 }), []);
      assert.ok(Date.now() - since < AT_ONCE_MS);
    });

    it("not at all when there is a message", async () => {
      const queue = await t.queue();
      await queue.send("x");
      assert.deepEqual(await wokenBy(queue, () => {}), ["x"]);
    });

    it("behind a blocked group", async () => {
      const queue = await t.fifo();
      await queue.sendTo("g", "a");
      await queue.take();
      await queue.sendTo("g", "b");
      const before = Date.now();
      assert.deepEqual(await queue.receive({ WaitTimeSeconds: 1 }), []);
      assertNotBefore(Date.now(), before + 1000);
    });
  });

  describe("several", TOGETHER, () => {
    /** Waits for as long as it takes; the bodies of what came. */
    async function awaited(queue, more = {}) {
      for (;;) {
        const bodies = await queue.bodies({ WaitTimeSeconds: LONG, ...more });
        if (bodies.length > 0) return bodies;
      }
    }

    it("wakes one for each message and lets the others wait", async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      const answers = [];
      const all = [0, 1, 2].map(() => awaited(queue).then((bodies) => answers.push(bodies)));
      await sleep(500);
      for (const body of ["a", "b", "c"]) {
        const { length } = answers;
        await queue.send(body);
        await waitFor(() => answers.length > length, `somebody to get ${body}`);
        await sleep(200);
        assert.equal(answers.length, length + 1);
      }
      await Promise.all(all);
      assert.deepEqual(answers, [["a"], ["b"], ["c"]]);
    });

    it("serves two hundred waiting receives, each message once", async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      const all = Array.from({ length: 200 }, () => awaited(queue, { MaxNumberOfMessages: 1 }));
      await sleep(500);
      const sent = Array.from({ length: 200 }, (_, i) => `${i}`);
      for (let i = 0; i < 200; i += 10) await queue.fill(...sent.slice(i, i + 10));
      const got = (await Promise.all(all)).flat();
      assert.deepEqual(
        got.sort((a, b) => a - b),
        sent,
      );
    });
  });

  describe("left", IN_TURN, () => {
    const own = world(); // on which nothing else happens
    const ROUNDS = 5;

    /** Starts to wait; a function that leaves. Both are over when the server knows it. */
    async function waiter(queue, client) {
      const controller = new AbortController();
      const input = { QueueUrl: queue.url, WaitTimeSeconds: LONG };
      const before = await own.underWay();
      const waiting = client.receiveMessage(input, { abortSignal: controller.signal });
      waiting.catch(() => {});
      await waitFor(async () => (await own.underWay()) > before, "the receive to arrive");
      return async () => {
        const with_ = await own.underWay();
        controller.abort();
        await assert.rejects(waiting, { name: "AbortError" });
        // Well before the wait would end by itself.
        await waitFor(async () => (await own.underWay()) < with_, "the server to see that it was left", AT_ONCE_MS);
      };
    }

    it("swallows nothing when the client aborts, and counts no receive", async () => {
      const queue = await own.queue({ VisibilityTimeout: "1" });
      for (let round = 0; round < ROUNDS; round += 1) {
        const client = own.connect(SQS);
        const leave = await waiter(queue, client);
        await leave();
        client.destroy();
        await queue.send(`${round}`);
        const message = await queue.take({ VisibilityTimeout: 900 });
        assert.deepEqual([message.Body, message.Attributes.ApproximateReceiveCount], [`${round}`, "1"]);
        await queue.delete(message);
      }
    });

    it("gives the turn to the next one who waits", async () => {
      const queue = await own.queue({ VisibilityTimeout: "1" });
      for (let round = 0; round < ROUNDS; round += 1) {
        const leave = await waiter(queue, own.sqs);
        const before = await own.underWay();
        const next = queue.take({ VisibilityTimeout: 900 });
        await waitFor(async () => (await own.underWay()) > before, "the next one to arrive");
        await leave();
        await queue.send(`${round}`);
        const message = await next;
        assert.deepEqual([message.Body, message.Attributes.ApproximateReceiveCount], [`${round}`, "1"]);
        await queue.delete(message);
      }
    });
  });
});

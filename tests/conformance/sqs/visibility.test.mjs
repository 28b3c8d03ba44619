// Who holds a message, for how long, and what its receipt handle is good for.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertNotBefore, each, refused, sleep, TOGETHER, waitFor, world } from "./harness.mjs";

// The token of --dev is public by design.
const DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";

describe("visibility", TOGETHER, () => {
  const t = world();

  /** A queue with one message in flight for a second, which has passed when `passed` is called. */
  async function held(seconds = 1, make = () => t.queue()) {
    const queue = await make();
    await (queue.name.endsWith(".fifo") ? queue.sendTo("g", "x") : queue.send("x"));
    const message = await queue.take({ VisibilityTimeout: seconds });
    const since = Date.now();
    return { queue, message, since, passed: () => sleep(since + seconds * 1000 + 200 - Date.now()) };
  }

  it("tells a receiver that extends it when its message was cancelled, so that it can stop", async () => {
    const { queue, message } = await held(900);
    const cancelled = await fetch(`${t.server.url}/v2/messages/${message.MessageId}`, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${DEV_TOKEN}` },
    });
    assert.equal(cancelled.status, 200, await cancelled.text());
    await refused(queue.change(message, 60), "MessageNotInflight");
    await queue.delete(message);
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  describe("timeouts", TOGETHER, () => {
    it("hides a message for the time asked for, then gives it again with another handle", async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      await queue.send("x");
      const before = Date.now();
      const first = await queue.take({ VisibilityTimeout: 1 });
      const second = await queue.take();
      assertNotBefore(Date.now(), before + 1000);
      assert.equal(second.MessageId, first.MessageId);
      assert.notEqual(second.ReceiptHandle, first.ReceiptHandle);
      assert.equal(second.Attributes.ApproximateReceiveCount, "2");
      assert.equal(
        second.Attributes.ApproximateFirstReceiveTimestamp,
        first.Attributes.ApproximateFirstReceiveTimestamp,
      );
    });

    it("uses the queue's timeout of the moment when none is asked for", async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      await queue.set({ VisibilityTimeout: "1" });
      await queue.send("x");
      const before = Date.now();
      await queue.take();
      await queue.take();
      assertNotBefore(Date.now(), before + 1000);
    });

    it("keeps the timeout of messages in flight when the queue's changes", async () => {
      const { queue } = await held(900);
      await queue.set({ VisibilityTimeout: "0" });
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
    });

    it("keeps a message visible that is received with 0, and counts the receives", async () => {
      const queue = await t.queue();
      await queue.send("x");
      for (const count of ["1", "2", "3"]) {
        const got = await queue.take({ VisibilityTimeout: 0 });
        assert.equal(got.Attributes.ApproximateReceiveCount, count);
      }
      assert.deepEqual(await queue.counts(), [1, 0, 0]);
    });

    it("puts a message that comes back at its old place", async () => {
      const queue = await t.queue();
      await queue.fill("a", "b", "c");
      const [a, b] = await queue.receive({ MaxNumberOfMessages: 2 });
      await queue.change(b, 0);
      await queue.change(a, 0);
      assert.deepEqual(await queue.bodies(), ["a", "b", "c"]);
    });

    it("holds hundreds in flight at once", async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      const sent = Array.from({ length: 300 }, (_, i) => `${i}`);
      await queue.fill(...sent);
      const got = await Promise.all(Array.from({ length: 30 }, () => queue.bodies()));
      assert.deepEqual(
        got.flat().sort((a, b) => a - b),
        sent,
      );
      assert.deepEqual(await queue.counts(), [0, 300, 0]);
    });
  });

  describe("changing", TOGETHER, () => {
    it("extends from now on, again and again", async () => {
      const { queue, message } = await held(1);
      let changed;
      for (let i = 0; i < 4; i += 1) {
        await sleep(400);
        changed = Date.now();
        await queue.change(message, 2);
      }
      await queue.take();
      assertNotBefore(Date.now(), changed + 2000);
    });

    it("shortens", async () => {
      const { queue, message } = await held(900);
      const before = Date.now();
      await queue.change(message, 1);
      await queue.take();
      assertNotBefore(Date.now(), before + 1000);
    });

    it("gives back at once with 0", async () => {
      const { queue, message } = await held(900);
      await queue.change(message, 0);
      assert.deepEqual(await queue.counts(), [1, 0, 0]);
      const [again] = await queue.receive();
      assert.equal(again.MessageId, message.MessageId);
      assert.equal(again.Attributes.ApproximateReceiveCount, "2");
    });

    it("is for this receive only", async () => {
      const queue = await t.queue({ VisibilityTimeout: "1" });
      await queue.send("x");
      await queue.change(await queue.take(), 900);
      await sleep(1200);
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
      const other = await held(900);
      await other.queue.change(other.message, 0);
      await other.queue.take();
      assert.deepEqual(await other.queue.counts(), [0, 1, 0]);
    });

    it("allows up to twelve hours after the receive, and refuses more instead of shortening it", async () => {
      const { queue, message } = await held(900);
      await queue.change(message, 43_000);
      await sleep(1500);
      await refused(queue.change(message, 43_200), "InvalidParameterValue");
      await queue.change(message, 43_190 - 60);
    });

    it("refuses values that are no timeout", async () => {
      const { queue, message } = await held(900);
      for (const value of [-1, 43_201]) await refused(queue.change(message, value), "InvalidParameterValue");
      await refused(queue.change(message, undefined), "MissingParameter");
    });
  });

  describe("receipt handles", TOGETHER, () => {
    it("deletes with the newest handle, and again without complaint", async () => {
      const { queue, message } = await held(900);
      await queue.delete(message);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
      await queue.delete(message);
      await refused(queue.change(message, 10), "InvalidParameterValue");
      await refused(queue.change(message, 0), "InvalidParameterValue");
    });

    it("deletes with the newest handle after the timeout on a standard queue", async () => {
      const { queue, message, passed } = await held();
      await passed();
      await queue.delete(message);
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("hides again with the newest handle after the timeout on a standard queue", async () => {
      const { queue, message, passed } = await held();
      await passed();
      await queue.change(message, 900);
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
    });

    it("refuses the handle after the timeout on a FIFO queue", async () => {
      const { queue, message, passed } = await held(1, () => t.fifo());
      await passed();
      await refused(queue.delete(message), "InvalidParameterValue", /expired/);
      await refused(queue.change(message, 10), "InvalidParameterValue");
      assert.equal((await queue.take()).MessageId, message.MessageId);
    });

    for (const [kind, make] of [
      ["standard", () => t.queue()],
      ["FIFO", () => t.fifo()],
    ])
      it(`keeps a ${kind} message that someone else holds from an older handle`, async () => {
        const { queue, message } = await held(900, make);
        await queue.change(message, 0);
        const newer = await queue.take({ VisibilityTimeout: 900 });
        // On a FIFO queue the older handle has expired and says so; on a standard queue the late delete is a success.
        if (kind === "FIFO") await queue.delete(message).catch(() => {});
        else await queue.delete(message);
        assert.deepEqual(await queue.counts(), [0, 1, 0]);
        await refused(queue.change(message, 0), "InvalidParameterValue");
        assert.deepEqual(await queue.counts(), [0, 1, 0]);
        await queue.delete(newer);
        assert.deepEqual(await queue.counts(), [0, 0, 0]);
      });

    it("refuses what this queue never gave as a handle", async () => {
      const { queue, message } = await held(900);
      const other = await held(900);
      const tampered = message.ReceiptHandle.replace(/^./, (c) => (c === "A" ? "B" : "A"));
      await each(
        [["nonsense"], ["AQEB"], ["x".repeat(1024)], ["ü"], [tampered], [other.message.ReceiptHandle]],
        async (ReceiptHandle) => {
          await refused(queue.delete({ ReceiptHandle }), "ReceiptHandleIsInvalid");
          await refused(queue.change({ ReceiptHandle }, 0), "ReceiptHandleIsInvalid");
        },
      );
      await refused(queue.delete({}), "MissingParameter");
      await refused(queue.change({}, 0), "MissingParameter");
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
      assert.deepEqual(await other.queue.counts(), [0, 1, 0]);
    });

    it("counts a message as visible again when its time is over, without anybody asking", async () => {
      const { queue } = await held(1);
      await waitFor(async () => `${await queue.counts()}` === "1,0,0", "the message to be visible");
    });
  });
});

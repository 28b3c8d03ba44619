// FIFO queues: order and blocking by group, sequence numbers, deduplication, receive attempts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertNotBefore,
  each,
  md5,
  refused,
  sha256,
  sleep,
  text,
  TOGETHER,
  unique,
  waitFor,
  world,
} from "./harness.mjs";

const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const bodies = (messages) => messages.map(({ Body }) => Body);

describe("FIFO queues", TOGETHER, () => {
  const t = world();

  /** A queue with these messages: "a1" goes into group "a". */
  async function filled(...messages) {
    const queue = await t.fifo({ VisibilityTimeout: "900" });
    for (const body of messages) await queue.sendTo(body[0], body);
    return queue;
  }

  describe("groups", TOGETHER, () => {
    it("blocks a group that has a message in flight, and no other", async () => {
      const queue = await filled("a1", "b1", "a2");
      const a1 = await queue.take();
      assert.equal(a1.Body, "a1");
      assert.deepEqual(await queue.bodies(), ["b1"]);
      await queue.sendTo("a", "a3");
      await queue.sendTo("b", "b2");
      await queue.sendTo("c", "c1");
      assert.deepEqual(await queue.bodies(), ["c1"]);
      assert.deepEqual(await queue.counts(), [3, 3, 0]);
      await queue.delete(a1);
      assert.deepEqual(await queue.bodies(), ["a2", "a3"]);
    });

    it("fills up from one group before it goes to the next", async () => {
      const queue = await filled("a1", "b1", "a2", "a3");
      assert.deepEqual(await queue.bodies(), ["a1", "a2", "a3", "b1"]);
      const other = await filled("a1", "b1", "a2", "a3");
      assert.deepEqual(await other.bodies({ MaxNumberOfMessages: 2 }), ["a1", "a2"]);
      assert.deepEqual(await other.bodies(), ["b1"]);
    });

    it("opens a group when all that were taken are deleted", async () => {
      const queue = await filled("a1", "a2", "a3");
      const [a1, a2] = await queue.receive({ MaxNumberOfMessages: 2 });
      await queue.delete(a1);
      assert.deepEqual(await queue.receive(), []);
      await queue.delete(a2);
      assert.deepEqual(await queue.bodies(), ["a3"]);
    });

    it("gives again what was given back, while the ones behind it are in flight", async () => {
      const queue = await filled("a1", "a2", "a3");
      const [a1] = await queue.receive({ MaxNumberOfMessages: 2 });
      await queue.change(a1, 0);
      assert.deepEqual(await queue.bodies(), ["a1"]);
    });

    it("takes nothing behind the first one that is still in flight", async () => {
      const queue = await filled("a1", "a2", "a3");
      const [a1, a2, a3] = await queue.receive();
      const since = Date.now();
      await queue.change(a3, 1);
      await queue.change(a1, 1);
      await sleep(since + 1500 - Date.now());
      const got = await queue.receive({ WaitTimeSeconds: 20 });
      assert.deepEqual(bodies(got), ["a1"]);
      await queue.delete(a2);
      await queue.delete(got[0]);
      assert.deepEqual(bodies(await queue.drain(1)), ["a3"]);
    });

    it("has the old order when the timeout has passed", async () => {
      const queue = await filled("a1", "a2", "a3");
      await queue.receive({ VisibilityTimeout: 1 });
      assert.deepEqual(bodies(await queue.drain(3)), ["a1", "a2", "a3"]);
    });

    it("has the old order when all are given back, in whatever order", async () => {
      const queue = await filled("a1", "a2", "a3");
      const [a1, a2, a3] = await queue.receive();
      for (const message of [a2, a3, a1]) await queue.change(message, 0);
      assert.deepEqual(await queue.bodies(), ["a1", "a2", "a3"]);
    });

    it("keeps everything visible that is received with a timeout of 0", async () => {
      const queue = await filled("a1", "a2");
      for (let i = 0; i < 2; i += 1) assert.deepEqual(await queue.bodies({ VisibilityTimeout: 0 }), ["a1", "a2"]);
      assert.deepEqual(await queue.counts(), [2, 0, 0]);
    });

    it("keeps the order of every group with several workers", async () => {
      const queue = await t.fifo({ VisibilityTimeout: "900" });
      const groups = ["a", "b", "c", "d", "e"];
      const sending = groups.map(async (group) => {
        for (let i = 0; i < 20; i += 1) await queue.sendTo(group, `${group}${i}`);
      });
      const got = Object.fromEntries(groups.map((group) => [group, []]));
      const total = () => Object.values(got).flat().length;
      const working = Array.from({ length: 4 }, async (_, who) => {
        while (total() < 100) {
          const messages = await queue.receive({ MaxNumberOfMessages: 1 + who, WaitTimeSeconds: 1 });
          for (const { Body, Attributes } of messages) got[Attributes.MessageGroupId].push(Body);
          for (const message of messages) await queue.delete(message);
        }
      });
      await Promise.all([...sending, ...working]);
      for (const group of groups) {
        const expected = Array.from({ length: 20 }, (_, i) => `${group}${i}`);
        assert.deepEqual(got[group], expected);
      }
    });

    it("takes ids of all printable characters without the blank, and no others", async () => {
      const queue = await t.fifo({ ContentBasedDeduplication: "true" });
      const legal = ["a", PUNCTUATION, "x".repeat(128)];
      for (const id of legal) {
        const sent = await queue.send(`to ${id}`, { MessageGroupId: id, MessageDeduplicationId: id });
        const { Attributes } = await queue.take();
        assert.deepEqual(
          [Attributes.MessageGroupId, Attributes.MessageDeduplicationId, Attributes.SequenceNumber],
          [id, id, sent.SequenceNumber],
        );
      }
      await each(
        ["", "a b", "ü", "a\n", "x".repeat(129)].map((id) => [id]),
        async (id) => {
          await refused(queue.send("x", { MessageGroupId: id }), "InvalidParameterValue");
          const more = { MessageGroupId: "g", MessageDeduplicationId: id };
          await refused(queue.send("x", more), "InvalidParameterValue");
        },
      );
    });

    it("asks for a group", async () => {
      const queue = await t.fifo({ ContentBasedDeduplication: "true" });
      await refused(queue.send("x"), "MissingParameter", /MessageGroupId/);
    });
  });

  describe("sequence numbers", TOGETHER, () => {
    it("rise over all groups and come with the message", async () => {
      const queue = await t.fifo();
      const sent = [];
      for (let i = 0; i < 20; i += 1) sent.push((await queue.sendTo(`g${i % 3}`, `${i}`)).SequenceNumber);
      assert.ok(sent.every((number) => /^\d{20}$/.test(number)));
      assert.deepEqual([...new Set(sent)].sort(), sent);
      for (const { Body, Attributes } of await queue.receive()) assert.equal(Attributes.SequenceNumber, sent[Body]);
    });
  });

  describe("deduplication", TOGETHER, () => {
    const send = (queue, body, group, id) => queue.send(body, { MessageGroupId: group, MessageDeduplicationId: id });
    const same = (a, b) => a.MessageId === b.MessageId && a.SequenceNumber === b.SequenceNumber;

    it("answers a duplicate with the first message's id and enqueues nothing", async () => {
      const queue = await t.fifo();
      const first = await send(queue, "first", "g", "d");
      const second = await send(queue, "another body", "g", "d");
      assert.ok(same(first, second));
      assert.equal(second.MD5OfMessageBody, md5("another body"));
      assert.deepEqual(await queue.bodies(), ["first"]);
    });

    it("remembers a message that was received and deleted", async () => {
      const queue = await t.fifo();
      const first = await send(queue, "x", "g", "d");
      await queue.delete(await queue.take());
      assert.ok(same(first, await send(queue, "x", "g", "d")));
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("deduplicates over the whole queue, or by group when the scope says so", async () => {
      const whole = await t.fifo();
      assert.ok(same(await send(whole, "x", "a", "d"), await send(whole, "x", "b", "d")));
      for (const FifoThroughputLimit of ["perQueue", "perMessageGroupId"]) {
        const byGroup = await t.fifo({ DeduplicationScope: "messageGroup", FifoThroughputLimit });
        const first = await send(byGroup, "x", "a", "d");
        assert.ok(!same(first, await send(byGroup, "x", "b", "d")));
        assert.ok(same(first, await send(byGroup, "x", "a", "d")));
        assert.deepEqual(await byGroup.counts(), [2, 0, 0]);
      }
    });

    it("keeps the order of groups with the high throughput settings", async () => {
      const queue = await t.fifo({ DeduplicationScope: "messageGroup", FifoThroughputLimit: "perMessageGroupId" });
      for (const body of ["a1", "b1", "a2", "b2"]) await queue.sendTo(body[0], body);
      assert.deepEqual(await queue.bodies(), ["a1", "a2", "b1", "b2"]);
    });

    it("goes on with the entries of the old scope when the scope changes", async () => {
      const queue = await t.fifo();
      const first = await send(queue, "x", "a", "d");
      await queue.set({ DeduplicationScope: "messageGroup" });
      assert.ok(same(first, await send(queue, "x", "a", "d")));
      assert.ok(same(first, await send(queue, "x", "b", "d")));
      assert.ok(!same(await send(queue, "x", "a", "new"), await send(queue, "x", "b", "new")));
    });

    it("takes the hash of the body for the id when the queue says so", async () => {
      const queue = await t.fifo({ ContentBasedDeduplication: "true" });
      const send1 = (body, more) => queue.send(body, { MessageGroupId: "g", ...more });
      const first = await send1("same");
      assert.ok(same(first, await send1("same")));
      assert.ok(same(first, await send1("same", { MessageAttributes: { a: text("other") } })));
      assert.ok(same(first, await send1("other body", { MessageDeduplicationId: sha256("same") })));
      assert.ok(!same(first, await send1("same", { MessageDeduplicationId: "own" })));
      const [message] = await queue.receive();
      assert.equal(
        message.Attributes.MessageDeduplicationId,
        "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5",
      );
    });

    it("asks for an id when bodies do not count", async () => {
      const queue = await t.fifo({ ContentBasedDeduplication: "true" });
      await queue.set({ ContentBasedDeduplication: "false" });
      await refused(queue.send("x", { MessageGroupId: "g" }), "InvalidParameterValue");
    });

    it("makes one message of many sends at once", async () => {
      const queue = await t.fifo();
      const sent = await Promise.all(Array.from({ length: 20 }, (_, i) => send(queue, `${i}`, "g", "same")));
      assert.equal(new Set(sent.map(({ MessageId }) => MessageId)).size, 1);
      assert.deepEqual(await queue.counts(), [1, 0, 0]);
    });

    it("is for one queue only", async () => {
      const [one, other] = [await t.fifo(), await t.fifo()];
      assert.ok(!same(await send(one, "x", "g", "d"), await send(other, "x", "g", "d")));
    });
  });

  describe("receive attempts", TOGETHER, () => {
    const attempt = (queue, id, more = {}) => queue.receive({ ReceiveRequestAttemptId: id, ...more });
    const handles = (messages) => messages.map(({ ReceiptHandle }) => ReceiptHandle);

    it("answers a repeated attempt with the same messages and handles", async () => {
      const queue = await filled("a1", "a2", "b1");
      const id = unique("attempt");
      const first = await attempt(queue, id, { MaxNumberOfMessages: 2 });
      assert.deepEqual(bodies(first), ["a1", "a2"]);
      const again = await attempt(queue, id, { MaxNumberOfMessages: 2 });
      assert.deepEqual(bodies(again), ["a1", "a2"]);
      assert.deepEqual(handles(again), handles(first));
      assert.deepEqual(bodies(await attempt(queue, unique("attempt"))), ["b1"]);
      for (const message of again) await queue.delete(message);
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
    });

    it("restarts the visibility timeout", async () => {
      const queue = await filled("a1");
      await attempt(queue, "id", { VisibilityTimeout: 2 });
      await sleep(800);
      const since = Date.now();
      await attempt(queue, "id", { VisibilityTimeout: 2 });
      await queue.take();
      assertNotBefore(Date.now(), since + 2000);
    });

    for (const [what, act] of [
      ["deleted", (queue, [message]) => queue.delete(message)],
      ["changed in its visibility", (queue, [message]) => queue.change(message, 800)],
    ])
      it(`is an ordinary receive when a message was ${what}`, async () => {
        const queue = await filled("a1", "a2", "b1");
        const first = await attempt(queue, "id", { MaxNumberOfMessages: 2 });
        await act(queue, first);
        assert.deepEqual(bodies(await attempt(queue, "id")), ["b1"]);
      });

    it("is an ordinary receive when the messages became visible meanwhile", async () => {
      const queue = await filled("a1");
      const [first] = await attempt(queue, "id", { VisibilityTimeout: 1 });
      await waitFor(async () => (await queue.counts())[0] === 1, "the message to be visible");
      const [second] = await attempt(queue, "id");
      assert.equal(second.MessageId, first.MessageId);
      assert.notEqual(second.ReceiptHandle, first.ReceiptHandle);
      assert.equal(second.Attributes.ApproximateReceiveCount, "2");
    });

    it("is an ordinary receive after an attempt that got nothing", async () => {
      const queue = await t.fifo();
      assert.deepEqual(await attempt(queue, "id"), []);
      await queue.sendTo("g", "x");
      assert.deepEqual(bodies(await attempt(queue, "id")), ["x"]);
    });

    it("refuses malformed attempt ids", async () => {
      const queue = await t.fifo();
      for (const id of ["a b", "x".repeat(129)]) await refused(attempt(queue, id), "InvalidParameterValue");
    });
  });

  describe("purging", TOGETHER, () => {
    it("opens all groups and forgets all deduplication ids", async () => {
      const queue = await t.fifo();
      await queue.sendTo("g", "held");
      await queue.take();
      const before = await queue.sendTo("g", "waiting", { MessageDeduplicationId: "d" });
      await t.sqs.purgeQueue({ QueueUrl: queue.url });
      const after = await queue.sendTo("g", "new", { MessageDeduplicationId: "d" });
      assert.notEqual(after.MessageId, before.MessageId);
      assert.ok(after.SequenceNumber > before.SequenceNumber);
      assert.deepEqual(await queue.bodies(), ["new"]);
    });
  });
});

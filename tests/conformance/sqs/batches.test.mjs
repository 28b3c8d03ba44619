// The three batch actions: what fails alone, what fails the whole call, and that nothing is half done.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { each, md5, md5OfAttributes, refused, text, TOGETHER, UUID, world } from "./harness.mjs";

const MIB = 1_048_576;
const TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
const range = (count) => Array.from({ length: count }, (_, i) => i);
const entries = (count, more = () => ({})) =>
  range(count).map((i) => ({ Id: `${i}`, MessageBody: `${i}`, ...more(i) }));
const codes = (failed) => Object.fromEntries(failed.map(({ Id, Code }) => [Id, Code]));
const ids = (list) => list.map(({ Id }) => Id);

describe("batches", TOGETHER, () => {
  const t = world();

  /** What makes a batch ill-formed, whatever its action; `entry` makes an entry that would be legal. */
  const shapes = (entry) => [
    ["none", [], "EmptyBatchRequest"],
    ["eleven", range(11).map((i) => entry(`${i}`)), "TooManyEntriesInBatchRequest"],
    ["the same id twice", ["a", "b", "a"].map(entry), "BatchEntryIdsNotDistinct"],
    ["an id with a blank", ["a b"].map(entry), "InvalidBatchEntryId"],
    ["an id with a dot", ["a.b"].map(entry), "InvalidBatchEntryId"],
    ["an empty id", [""].map(entry), "InvalidBatchEntryId"],
    ["an id of 81 characters", ["x".repeat(81)].map(entry), "InvalidBatchEntryId"],
  ];

  describe("sending", TOGETHER, () => {
    it("enqueues ten with everything that a message can have", async () => {
      const queue = await t.queue();
      const more = (i) => ({
        MessageBody: `body ${i} ü`,
        MessageAttributes: { n: text(`${i}`) },
        MessageSystemAttributes: { AWSTraceHeader: text(TRACE) },
      });
      const batch = entries(10, more);
      batch[9].Id = "Long_-".padEnd(80, "0");
      const { Successful, Failed } = await queue.sendBatch(batch);
      assert.equal(Failed, undefined);
      assert.deepEqual(ids(Successful).sort(), ids(batch).sort());
      for (const one of Successful) {
        const sent = batch.find(({ Id }) => Id === one.Id);
        assert.match(one.MessageId, UUID);
        assert.deepEqual(one, {
          Id: sent.Id,
          MessageId: one.MessageId,
          MD5OfMessageBody: md5(sent.MessageBody),
          MD5OfMessageAttributes: md5OfAttributes(sent.MessageAttributes),
          MD5OfMessageSystemAttributes: "5ae4d5d7636402d80f4eb6d213245a88",
        });
      }
      const got = await queue.receive({ MessageAttributeNames: ["All"] });
      assert.deepEqual(
        got.map(({ Body, MessageId, MessageAttributes, Attributes }) => [
          Body,
          MessageId,
          MessageAttributes.n.StringValue,
          Attributes.AWSTraceHeader,
        ]),
        batch.map(({ Id, MessageBody }, i) => [
          MessageBody,
          Successful.find((one) => one.Id === Id).MessageId,
          `${i}`,
          TRACE,
        ]),
      );
    });

    it("fails bad entries alone, each with the code of its own mistake", async () => {
      const queue = await t.queue({ MaximumMessageSize: "1024" });
      const { Successful, Failed } = await queue.sendBatch([
        { Id: "good", MessageBody: "good" },
        { Id: "empty", MessageBody: "" },
        { Id: "characters", MessageBody: "a\u0001" },
        { Id: "large", MessageBody: "x".repeat(1025) },
        { Id: "delay", MessageBody: "x", DelaySeconds: 901 },
        { Id: "attribute", MessageBody: "x", MessageAttributes: { a: text("") } },
        { Id: "list", MessageBody: "x", MessageAttributes: { a: { DataType: "String", StringListValues: ["x"] } } },
        { Id: "group", MessageBody: "x", MessageGroupId: "a b" },
        { Id: "deduplication", MessageBody: "x", MessageDeduplicationId: "x" },
        { Id: "good-too", MessageBody: "good too" },
      ]);
      assert.deepEqual(ids(Successful).sort(), ["good", "good-too"]);
      assert.deepEqual(codes(Failed), {
        empty: "MissingParameter",
        characters: "InvalidMessageContents",
        large: "InvalidParameterValue",
        delay: "InvalidParameterValue",
        attribute: "InvalidParameterValue",
        list: "AWS.SimpleQueueService.UnsupportedOperation",
        group: "InvalidParameterValue",
        deduplication: "InvalidParameterValue",
      });
      for (const { SenderFault, Message } of Failed) assert.ok(SenderFault === true && Message);
      assert.deepEqual(await queue.bodies(), ["good", "good too"]);
    });

    it("leaves out an empty list of successes or failures", async () => {
      const queue = await t.queue();
      const ask = (MessageBody) =>
        t.json("SendMessageBatch", { QueueUrl: queue.url, Entries: [{ Id: "a", MessageBody }] });
      assert.deepEqual(Object.keys((await ask("x")).json()), ["Successful"]);
      assert.deepEqual(Object.keys((await ask("")).json()), ["Failed"]);
    });

    it("refuses an ill-formed batch, before it looks for the queue, and enqueues nothing", async () => {
      const queue = await t.queue();
      await each(
        shapes((Id) => ({ Id, MessageBody: "x" })),
        async (_, batch, error) => {
          await refused(queue.sendBatch(batch), error);
          await refused(queue.sendBatch(batch, `${t.server.url}/000000000000/no-such-queue`), error);
        },
      );
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("names the id that came twice", async () => {
      const queue = await t.queue();
      const batch = ["one", "twice", "twice"].map((Id) => ({ Id, MessageBody: "x" }));
      await refused(queue.sendBatch(batch), "BatchEntryIdsNotDistinct", /twice/);
    });

    it("takes a mebibyte altogether and not one byte more", async () => {
      const queue = await t.queue();
      const batch = entries(10, () => ({ MessageBody: "x".repeat(100_000), MessageAttributes: { n: text("v") } }));
      batch[0].MessageBody = "x".repeat(MIB - 900_000 - 10 * 8);
      const { Successful } = await queue.sendBatch(batch);
      assert.equal(Successful.length, 10);
      batch[1].MessageBody += "x";
      await refused(queue.sendBatch(batch), "BatchRequestTooLong");
      const large = entries(2, () => ({ MessageBody: "x".repeat(MIB / 2 + 1) }));
      await refused(queue.sendBatch(large), "BatchRequestTooLong");
      assert.deepEqual(await queue.counts(), [10, 0, 0]);
    });

    it("delays each message by its own delay", async () => {
      const queue = await t.queue();
      await queue.sendBatch(entries(3, (i) => ({ DelaySeconds: i === 1 ? 900 : 0 })));
      assert.deepEqual(await queue.bodies(), ["0", "2"]);
      assert.deepEqual(await queue.counts(), [0, 2, 1]);
    });

    it("fails the whole call when an entry for a FIFO queue has no group or no deduplication id", async () => {
      const queue = await t.fifo();
      const good = { Id: "good", MessageBody: "x", MessageGroupId: "g", MessageDeduplicationId: "d" };
      for (const missing of ["MessageGroupId", "MessageDeduplicationId"]) {
        const bad = { ...good, Id: "bad", [missing]: undefined };
        await refused(queue.sendBatch([good, bad]), "InvalidParameterValue");
      }
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("keeps the order of entries in a FIFO queue, past those that failed", async () => {
      const queue = await t.fifo();
      const batch = entries(10, (i) => ({ MessageGroupId: "g", MessageDeduplicationId: `${i}` }));
      batch[3].MessageBody = "a\u0001";
      batch[7].MessageGroupId = "a b";
      const { Successful, Failed } = await queue.sendBatch(batch);
      assert.deepEqual(codes(Failed), { 3: "InvalidMessageContents", 7: "InvalidParameterValue" });
      assert.deepEqual(await queue.bodies(), ["0", "1", "2", "4", "5", "6", "8", "9"]);
      const numbers = Successful.sort((a, b) => a.Id - b.Id).map(({ SequenceNumber }) => SequenceNumber);
      assert.ok(numbers.every((n) => /^\d{20}$/.test(n)));
      assert.deepEqual([...new Set(numbers)].sort(), numbers);
    });

    it("makes one message of two entries with one deduplication id", async () => {
      const queue = await t.fifo();
      const batch = entries(3, () => ({ MessageGroupId: "g", MessageDeduplicationId: "same" }));
      const { Successful } = await queue.sendBatch(batch);
      assert.deepEqual(ids(Successful), ["0", "1", "2"]);
      assert.equal(new Set(Successful.map(({ MessageId }) => MessageId)).size, 1);
      assert.equal(new Set(Successful.map(({ SequenceNumber }) => SequenceNumber)).size, 1);
      assert.deepEqual(await queue.bodies(), ["0"]);
    });
  });

  describe("deleting and changing", TOGETHER, () => {
    const remove = (queue, Entries) => t.sqs.deleteMessageBatch({ QueueUrl: queue.url, Entries });
    const change = (queue, Entries) => t.sqs.changeMessageVisibilityBatch({ QueueUrl: queue.url, Entries });

    async function received(count) {
      const queue = await t.queue();
      await queue.fill(...range(count).map(String));
      return { queue, messages: await queue.receive() };
    }
    const handles = (messages) => messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));

    it("deletes ten, again without complaint", async () => {
      const { queue, messages } = await received(10);
      for (let round = 0; round < 2; round += 1) {
        const { Successful, Failed } = await remove(queue, handles(messages));
        assert.equal(Failed, undefined);
        assert.deepEqual(ids(Successful).sort(), range(10).map(String));
        assert.deepEqual(await queue.counts(), [0, 0, 0]);
      }
    });

    it("fails only the entries with a handle that the queue never gave", async () => {
      const { queue, messages } = await received(2);
      const other = await received(1);
      const batch = [
        ...handles(messages),
        { Id: "nonsense", ReceiptHandle: "nonsense" },
        { Id: "foreign", ReceiptHandle: other.messages[0].ReceiptHandle },
      ];
      const wrong = { nonsense: "ReceiptHandleIsInvalid", foreign: "ReceiptHandleIsInvalid" };

      const changed = await change(
        queue,
        batch.map((entry) => ({ ...entry, VisibilityTimeout: 60 })),
      );
      assert.deepEqual([ids(changed.Successful).sort(), codes(changed.Failed)], [["0", "1"], wrong]);

      const deleted = await remove(queue, batch);
      assert.deepEqual([ids(deleted.Successful).sort(), codes(deleted.Failed)], [["0", "1"], wrong]);
      assert.ok(deleted.Failed.every(({ SenderFault }) => SenderFault === true));
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
      assert.deepEqual(await other.queue.counts(), [0, 1, 0]);
    });

    it("changes each by its own timeout", async () => {
      const { queue, messages } = await received(4);
      const timeouts = [0, 60, -1, 43_201];
      const batch = handles(messages).map((entry, i) => ({ ...entry, VisibilityTimeout: timeouts[i] }));
      const { Successful, Failed } = await change(queue, batch);
      assert.deepEqual(ids(Successful).sort(), ["0", "1"]);
      assert.deepEqual(codes(Failed), { 2: "InvalidParameterValue", 3: "InvalidParameterValue" });
      assert.deepEqual(await queue.bodies(), ["0"]);
    });

    it("refuses an ill-formed batch and does nothing", async () => {
      const { queue, messages } = await received(1);
      const [{ ReceiptHandle }] = messages;
      await each(
        shapes((Id) => ({ Id, ReceiptHandle, VisibilityTimeout: 0 })),
        async (_, batch, error) => {
          await refused(change(queue, batch), error);
          await refused(
            remove(
              queue,
              batch.map(({ Id }) => ({ Id, ReceiptHandle })),
            ),
            error,
          );
        },
      );
      assert.deepEqual(await queue.counts(), [0, 1, 0]);
    });

    it("takes message ids as entry ids", async () => {
      const { queue, messages } = await received(3);
      const { Successful } = await remove(
        queue,
        messages.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle })),
      );
      assert.equal(Successful.length, 3);
    });
  });
});

// The attributes of queues: defaults, ranges, what can be changed and what is refused.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, each, refused, sleep, TOGETHER, unique, waitFor, world } from "./harness.mjs";

const COMMON = {
  VisibilityTimeout: "30",
  DelaySeconds: "0",
  MessageRetentionPeriod: "345600",
  MaximumMessageSize: "1048576",
  ReceiveMessageWaitTimeSeconds: "0",
  SqsManagedSseEnabled: "true",
  ApproximateNumberOfMessages: "0",
  ApproximateNumberOfMessagesNotVisible: "0",
  ApproximateNumberOfMessagesDelayed: "0",
};
const FIFO = {
  FifoQueue: "true",
  ContentBasedDeduplication: "false",
  DeduplicationScope: "queue",
  FifoThroughputLimit: "perQueue",
};
const RANGES = [
  ["VisibilityTimeout", 0, 43_200],
  ["DelaySeconds", 0, 900],
  ["MessageRetentionPeriod", 60, 1_209_600],
  ["MaximumMessageSize", 1024, 1_048_576],
  ["ReceiveMessageWaitTimeSeconds", 0, 20],
  ["KmsDataKeyReusePeriodSeconds", 60, 86_400],
];
const POLICY = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: "*", Action: "sqs:SendMessage", Resource: "*" }],
};

describe("queue attributes", TOGETHER, () => {
  const t = world();

  it("has exactly the documented attributes with their defaults", async () => {
    for (const [queue, expected] of [
      [await t.queue(), COMMON],
      [await t.fifo(), { ...COMMON, ...FIFO }],
    ]) {
      const { QueueArn, CreatedTimestamp, LastModifiedTimestamp, ...rest } = await queue.attributes();
      assert.deepEqual(rest, expected);
      assert.equal(QueueArn, queue.arn);
      assertRecent(Number(CreatedTimestamp) * 1000);
      assert.equal(LastModifiedTimestamp, CreatedTimestamp);
    }
  });

  it("answers what was asked for: all, some, or without names nothing", async () => {
    const queue = await t.queue();
    const ask = async (AttributeNames) =>
      (await t.sqs.getQueueAttributes({ QueueUrl: queue.url, AttributeNames })).Attributes;
    assert.deepEqual(await ask(["DelaySeconds", "QueueArn"]), { DelaySeconds: "0", QueueArn: queue.arn });
    assert.equal(await ask(undefined), undefined);
    assert.equal(await ask([]), undefined);
    assert.equal(await ask(["RedrivePolicy"]), undefined);
    await refused(ask(["Nonsense"]), "InvalidAttributeName");
    await refused(ask(["DelaySeconds", "Nonsense"]), "InvalidAttributeName");
  });

  for (const [name, min, max] of RANGES)
    it(`takes ${name} from ${min} to ${max} and nothing else`, async () => {
      const extra = name.startsWith("Kms") ? { KmsMasterKeyId: "alias/some" } : {};
      const queue = await t.queue(extra);
      for (const value of [`${min}`, `${max}`]) {
        await queue.set({ [name]: value });
        assert.deepEqual(await queue.attributes(name), { [name]: value });
      }
      await each([[`${min - 1}`], [`${max + 1}`], ["abc"], ["1.5"], ["99999999999999999999"]], (value) =>
        refused(queue.set({ [name]: value }), "InvalidAttributeValue"),
      );
      await refused(
        t.sqs.createQueue({ QueueName: unique(), Attributes: { ...extra, [name]: `${max + 1}` } }),
        "InvalidAttributeValue",
      );
      assert.deepEqual(await queue.attributes(name), { [name]: `${max}` });
    });

  it("changes all or nothing", async () => {
    const queue = await t.queue();
    await refused(queue.set({ VisibilityTimeout: "5", DelaySeconds: "901" }), "InvalidAttributeValue");
    await refused(queue.set({ VisibilityTimeout: "5", Nonsense: "1" }), "InvalidAttributeName");
    assert.deepEqual(await queue.attributes("VisibilityTimeout"), { VisibilityTimeout: "30" });
    await queue.set({});
    assert.deepEqual(await queue.attributes("VisibilityTimeout"), { VisibilityTimeout: "30" });
  });

  it("refuses names that are unknown or read-only, when creating and when setting", async () => {
    const queue = await t.queue();
    const names = [
      "Nonsense",
      "All",
      "visibilitytimeout",
      "QueueArn",
      "CreatedTimestamp",
      "LastModifiedTimestamp",
      "ApproximateNumberOfMessages",
      "ApproximateNumberOfMessagesNotVisible",
      "ApproximateNumberOfMessagesDelayed",
    ];
    await each(
      names.map((name) => [name]),
      async (name) => {
        await refused(queue.set({ [name]: "1" }), "InvalidAttributeName");
        const Attributes = { [name]: "1" };
        await refused(t.sqs.createQueue({ QueueName: unique(), Attributes }), "InvalidAttributeName");
      },
    );
  });

  it("refuses attributes of FIFO queues on a standard queue", async () => {
    const queue = await t.queue();
    await each(
      [
        ["FifoQueue", "false"],
        ["ContentBasedDeduplication", "true"],
        ["ContentBasedDeduplication", "false"],
        ["DeduplicationScope", "queue"],
        ["FifoThroughputLimit", "perQueue"],
      ],
      async (name, value) => {
        await refused(queue.set({ [name]: value }), "InvalidAttributeName");
        const Attributes = { [name]: value };
        await refused(t.sqs.createQueue({ QueueName: unique(), Attributes }), "InvalidAttributeName");
      },
    );
  });

  it("keeps a FIFO queue FIFO and changes the rest", async () => {
    const queue = await t.fifo();
    await queue.set({ FifoQueue: "true" });
    await refused(queue.set({ FifoQueue: "false" }), "InvalidAttributeValue");
    await queue.set({ ContentBasedDeduplication: "TRUE" });
    assert.deepEqual(await queue.attributes("ContentBasedDeduplication"), { ContentBasedDeduplication: "true" });
    await queue.set({ DeduplicationScope: "messageGroup", FifoThroughputLimit: "perMessageGroupId" });
    assert.deepEqual(await queue.attributes("DeduplicationScope", "FifoThroughputLimit"), {
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
    });
    await each(
      [
        [{ ContentBasedDeduplication: "yes" }],
        [{ DeduplicationScope: "nonsense" }],
        [{ FifoThroughputLimit: "nonsense" }],
        [{ DeduplicationScope: "queue" }], // with the limit per group
      ],
      (attributes) => refused(queue.set(attributes), "InvalidAttributeValue"),
    );
  });

  it("stores a policy, gives back equal JSON, and removes it with an empty text", async () => {
    const queue = await t.queue({ Policy: JSON.stringify(POLICY, null, 2) });
    assert.deepEqual(JSON.parse((await queue.attributes("Policy")).Policy), POLICY);
    assert.deepEqual(JSON.parse((await queue.attributes("All")).Policy), POLICY);
    await queue.set({ Policy: "" });
    assert.deepEqual(await queue.attributes("Policy"), {});
    await refused(queue.set({ Policy: "not json" }), "InvalidAttributeValue");
  });

  it("stores a key id, which turns the managed encryption off", async () => {
    const queue = await t.queue({ KmsMasterKeyId: "alias/mine" });
    const names = ["KmsMasterKeyId", "SqsManagedSseEnabled"];
    assert.deepEqual(await queue.attributes(...names), {
      KmsMasterKeyId: "alias/mine",
      SqsManagedSseEnabled: "false",
    });
    await refused(queue.set({ KmsMasterKeyId: "a", SqsManagedSseEnabled: "true" }), "InvalidAttributeName");
    await queue.set({ KmsMasterKeyId: "" });
    assert.equal((await queue.attributes("All")).KmsMasterKeyId, undefined);
  });

  it("tells when it was last changed", async () => {
    const queue = await t.queue();
    const created = await queue.attributes("CreatedTimestamp", "LastModifiedTimestamp");
    await sleep(1100);
    await queue.set({ DelaySeconds: "1" });
    const changed = await queue.attributes("CreatedTimestamp", "LastModifiedTimestamp");
    assert.equal(changed.CreatedTimestamp, created.CreatedTimestamp);
    assert.ok(Number(changed.LastModifiedTimestamp) > Number(created.LastModifiedTimestamp));
  });

  it("counts what is visible, in flight and delayed", async () => {
    const queue = await t.queue();
    await queue.fill("a", "b", "c", "d", "e");
    await queue.send("later", { DelaySeconds: 900 });
    await queue.receive({ MaxNumberOfMessages: 2 });
    await waitFor(
      async () => `${await queue.counts()}` === "3,2,1",
      async () => `3,2,1; it is ${await queue.counts()}`,
    );
  });
});

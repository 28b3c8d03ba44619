// What goes beyond SQS, and only for queues that ask for it: longer delays and longer retention.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, TOGETHER, unique, world } from "./harness.mjs";

const EXTENDED = { HikyakuExtendedLimits: "true" };
const DAY = 86_400;

describe("beyond SQS", TOGETHER, () => {
  const t = world();

  it("keeps the limits of SQS for queues that did not ask", async () => {
    const queue = await t.queue();
    await refused(queue.send("x", { DelaySeconds: 901 }), "InvalidParameterValue");
    await refused(queue.set({ DelaySeconds: "901" }), "InvalidAttributeValue");
    await refused(queue.set({ MessageRetentionPeriod: `${15 * DAY}` }), "InvalidAttributeValue");
    const Attributes = { MessageRetentionPeriod: `${15 * DAY}` };
    await refused(t.sqs.createQueue({ QueueName: unique(), Attributes }), "InvalidAttributeValue");
    assert.equal((await queue.attributes("All")).HikyakuExtendedLimits, undefined);
  });

  it("delays for more than fifteen minutes", async () => {
    const queue = await t.queue(EXTENDED);
    await queue.send("in a day", { DelaySeconds: DAY });
    const { Failed } = await queue.sendBatch([{ Id: "a", MessageBody: "in a batch", DelaySeconds: DAY }]);
    assert.equal(Failed, undefined);
    assert.deepEqual(await queue.counts(), [0, 0, 2]);
    await queue.set({ DelaySeconds: `${DAY}` });
    await queue.send("by the queue");
    assert.deepEqual(await queue.counts(), [0, 0, 3]);
    assert.deepEqual(await queue.attributes("DelaySeconds"), { DelaySeconds: `${DAY}` });
    await refused(queue.send("x", { DelaySeconds: -1 }), "InvalidParameterValue");
  });

  it("keeps messages for more than fourteen days", async () => {
    const queue = await t.queue({ ...EXTENDED, MessageRetentionPeriod: `${30 * DAY}` });
    assert.deepEqual(await queue.attributes("MessageRetentionPeriod", "HikyakuExtendedLimits"), {
      MessageRetentionPeriod: `${30 * DAY}`,
      ...EXTENDED,
    });
    await refused(queue.set({ MessageRetentionPeriod: "59" }), "InvalidAttributeValue");
  });

  it("can be asked for later, in the same call that uses it", async () => {
    const queue = await t.queue();
    await queue.set({ ...EXTENDED, MessageRetentionPeriod: `${15 * DAY}` });
    assert.deepEqual(await queue.attributes("MessageRetentionPeriod"), { MessageRetentionPeriod: `${15 * DAY}` });
    await refused(queue.set({ HikyakuExtendedLimits: "maybe" }), "InvalidAttributeValue");
  });
});

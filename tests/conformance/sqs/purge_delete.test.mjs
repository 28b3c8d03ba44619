// PurgeQueue and DeleteQueue: everything is gone when they answer, and nothing comes back.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Queue, refused, TOGETHER, world } from "./harness.mjs";

describe("purging and deleting queues", TOGETHER, () => {
  const t = world();
  const purge = ({ url }) => t.sqs.purgeQueue({ QueueUrl: url });
  const remove = ({ url }) => t.sqs.deleteQueue({ QueueUrl: url });

  /** A queue with a message in every state, and the one in flight. */
  async function full() {
    const queue = await t.queue({ VisibilityTimeout: "900" });
    await queue.send("in flight");
    const held = await queue.take();
    await queue.send("visible");
    await queue.send("delayed", { DelaySeconds: 900 });
    assert.deepEqual(await queue.counts(), [1, 1, 1]);
    return { queue, held };
  }

  it("purges what is visible, in flight and delayed", async () => {
    const { queue, held } = await full();
    await purge(queue);
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
    assert.deepEqual(await queue.receive(), []);

    await queue.delete(held);
    await refused(queue.change(held, 0), "InvalidParameterValue");
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  it("keeps what is sent after a purge, and the queue as it was", async () => {
    const { queue } = await full();
    await purge(queue);
    await queue.send("after");
    assert.deepEqual(await queue.bodies(), ["after"]);
    assert.deepEqual(await queue.attributes("VisibilityTimeout"), { VisibilityTimeout: "900" });
  });

  it("refuses a second purge within a minute, for this queue only", async () => {
    const { queue } = await full();
    await purge(queue);
    await queue.send("kept");
    await refused(purge(queue), "PurgeQueueInProgress");
    assert.deepEqual(await queue.bodies(), ["kept"]);
    await purge(await t.queue());
  });

  it("purges a large queue completely", async () => {
    const queue = await t.queue();
    await queue.fill(...Array.from({ length: 500 }, (_, i) => `${i}`));
    await purge(queue);
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  it("refuses to purge or delete what does not exist", async () => {
    const queue = new Queue(t, "no-such-queue", `${t.server.url}/000000000000/no-such-queue`);
    await refused(purge(queue), "QueueDoesNotExist");
    await refused(remove(queue), "QueueDoesNotExist");
  });

  it("deletes a queue with all its messages, so that a new one of that name is empty", async () => {
    const { queue, held } = await full();
    await remove(queue);
    for (const call of [
      () => queue.send("x"),
      () => queue.receive(),
      () => queue.delete(held),
      () => queue.change(held, 0),
      () => queue.attributes(),
      () => queue.set({ DelaySeconds: "1" }),
      () => purge(queue),
      () => t.sqs.listQueueTags({ QueueUrl: queue.url }),
    ])
      await refused(call(), "QueueDoesNotExist");

    await t.sqs.createQueue({ QueueName: queue.name });
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
    assert.deepEqual(await queue.attributes("VisibilityTimeout"), { VisibilityTimeout: "30" });
    await purge(queue); // The purge of the old one does not count.
  });

  it("forgets deduplication ids and tags with the queue", async () => {
    const queue = await t.fifo({}, { tags: { a: "b" } });
    const send = () => queue.sendTo("g", "x", { MessageDeduplicationId: "d" });
    const first = await send();
    await remove(queue);
    await t.sqs.createQueue({ QueueName: queue.name, Attributes: { FifoQueue: "true" } });
    assert.notEqual((await send()).MessageId, first.MessageId);
    assert.equal((await t.sqs.listQueueTags({ QueueUrl: queue.url })).Tags, undefined);
  });
});

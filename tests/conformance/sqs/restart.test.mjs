// kill -9 in the middle: what was answered is so, what was deleted stays deleted, and time goes on.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SNS } from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import {
  assertNotBefore,
  IN_TURN,
  LONG,
  number,
  Queue,
  refused,
  sleep,
  text,
  unique,
  waitFor,
  world,
} from "./harness.mjs";

describe("restart in the middle", IN_TURN, () => {
  const t = world();

  it("keeps queues with attributes, tags and permissions, and their ends", async () => {
    const dead = await t.queue();
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 3 });
    const Attributes = { VisibilityTimeout: "11", DelaySeconds: "12", MessageRetentionPeriod: "1300", RedrivePolicy };
    const queue = await t.queue(Attributes, { tags: { a: "1", b: "2" } });
    await queue.set({ VisibilityTimeout: "14" });
    await t.sqs.untagQueue({ QueueUrl: queue.url, TagKeys: ["b"] });
    const input = { QueueUrl: queue.url, Label: "l", AWSAccountIds: ["111111111111"], Actions: ["SendMessage"] };
    await t.sqs.addPermission(input);
    const fifo = await t.fifo({ ContentBasedDeduplication: "true", DeduplicationScope: "messageGroup" });
    const deleted = await t.queue();
    await deleted.send("gone");
    await t.sqs.deleteQueue({ QueueUrl: deleted.url });
    const state = async () => ({
      queue: await queue.attributes(),
      fifo: await fifo.attributes(),
      tags: (await t.sqs.listQueueTags({ QueueUrl: queue.url })).Tags,
      sources: (await t.sqs.listDeadLetterSourceQueues({ QueueUrl: dead.url })).queueUrls,
    });
    const before = await state();
    assert.deepEqual(before.tags, { a: "1" });

    await t.server.restart();

    assert.deepEqual(await state(), before);
    await refused(deleted.attributes(), "QueueDoesNotExist");
    await t.sqs.createQueue({ QueueName: deleted.name });
    assert.deepEqual(await deleted.counts(), [0, 0, 0]);
  });

  it("keeps messages as they were, in their order, and none that was deleted or purged", async () => {
    const [queue, purged] = [await t.queue({ VisibilityTimeout: "900" }), await t.queue()];
    const more = { MessageAttributes: { a: text("ü"), n: number(1) }, MessageGroupId: "tenant" };
    await queue.send("deleted");
    await queue.delete(await queue.take());
    const ids = [];
    for (let i = 0; i < 8; i += 1) ids.push((await queue.send(`${i}`, more)).MessageId);
    await queue.change(await queue.take(), 0);
    await purged.fill("a", "b", "c");
    await t.sqs.purgeQueue({ QueueUrl: purged.url });
    await purged.send("after");

    await t.server.restart();

    const got = await queue.receive({ MessageAttributeNames: ["All"] });
    assert.deepEqual(
      got.map(({ MessageId, Body }) => [MessageId, Body]),
      ids.map((id, i) => [id, `${i}`]),
    );
    for (const { MessageAttributes, Attributes } of got) {
      assert.deepEqual([MessageAttributes.a.StringValue, MessageAttributes.n.StringValue], ["ü", "1"]);
      assert.equal(Attributes.MessageGroupId, "tenant");
    }
    assert.equal(got[0].Attributes.ApproximateReceiveCount, "2");
    assert.deepEqual(await purged.bodies(), ["after"]);
  });

  it("keeps delays, over the time in which there is no server", async () => {
    const queue = await t.queue({ VisibilityTimeout: "900" });
    const since = Date.now();
    await queue.send("soon", { DelaySeconds: 3 });
    await queue.send("much later", { DelaySeconds: 900 });
    await t.server.restart();
    assert.equal((await queue.take()).Body, "soon");
    assertNotBefore(Date.now(), since + 3000);
    assert.deepEqual(await queue.counts(), [0, 1, 1]);

    await queue.send("due meanwhile", { DelaySeconds: 1 });
    await t.server.kill();
    await sleep(1200);
    await t.server.start();
    assert.equal((await queue.take()).Body, "due meanwhile");
  });

  it("keeps what is in flight with its holder, whose handle is still good", async () => {
    const [queue, brief] = [await t.queue({ VisibilityTimeout: "900" }), await t.queue({ VisibilityTimeout: "900" })];
    await queue.fill("a", "b", "c");
    const [a, b] = await queue.receive({ MaxNumberOfMessages: 2 });
    const c = await queue.take();
    await brief.send("d");
    const since = Date.now();
    const d = await brief.take({ VisibilityTimeout: 3 });

    await t.server.restart();

    // What the restart takes may be more than the three seconds: that they are over is right at any time after them.
    const again = await brief.take();
    assertNotBefore(Date.now(), since + 3000);
    assert.deepEqual([again.MessageId, again.Attributes.ApproximateReceiveCount], [d.MessageId, "2"]);
    assert.deepEqual(await queue.counts(), [0, 3, 0]);
    await queue.delete(a);
    await queue.change(b, 0);
    assert.deepEqual(await queue.bodies(), ["b"]);
    assert.deepEqual(await queue.counts(), [0, 2, 0]);
    await queue.delete(c);
    assert.deepEqual(await queue.counts(), [0, 1, 0]);
    const other = await t.queue();
    await refused(other.delete(b), "ReceiptHandleIsInvalid");
  });

  it("keeps deduplication, order, blocked groups and rising sequence numbers", async () => {
    const queue = await t.fifo({ VisibilityTimeout: "900" });
    const send = (body, id) => queue.sendTo("g", body, { MessageDeduplicationId: id });
    const first = await send("1", "d1");
    const second = await send("2", "d2");
    await send("3", "d3");
    const held = await queue.take();

    await t.server.restart();

    for (const [sent, id] of [
      [first, "d1"],
      [second, "d2"],
    ]) {
      const again = await send("other", id);
      assert.deepEqual([again.MessageId, again.SequenceNumber], [sent.MessageId, sent.SequenceNumber]);
    }
    const fourth = await send("4", "d4");
    assert.ok(fourth.SequenceNumber > second.SequenceNumber);
    assert.deepEqual(await queue.receive(), []);
    await queue.delete(held);
    assert.deepEqual(await queue.bodies(), ["2", "3", "4"]);
  });

  it("counts receives over crashes, so that a poison message reaches the dead-letter queue", async () => {
    const { queue, dead } = await t.withDeadLetters(3);
    await queue.send("poison");
    for (const count of ["1", "2", "3"]) {
      assert.equal((await queue.take()).Attributes.ApproximateReceiveCount, count);
      await t.server.restart();
    }
    assert.deepEqual(await queue.receive(), []);
    await t.server.restart();
    const { Body, Attributes } = await dead.take();
    assert.deepEqual(
      [Body, Attributes.DeadLetterQueueSourceArn, Attributes.ApproximateReceiveCount],
      ["poison", queue.arn, "4"],
    );
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  it("goes on with a move task, and moves each message once", async () => {
    const { queue, dead } = await t.withDeadLetters(1);
    const bodies = Array.from({ length: 10 }, (_, i) => `${i}`);
    await queue.fill(...bodies);
    await queue.receive();
    assert.deepEqual(await queue.receive(), []);
    await queue.set({ VisibilityTimeout: "900" });
    await t.sqs.startMessageMoveTask({ SourceArn: dead.arn, MaxNumberOfMessagesPerSecond: 4 });
    await waitFor(async () => (await queue.counts())[0] >= 2, "the task to begin");

    await t.server.restart();

    await waitFor(async () => {
      const { Results } = await t.sqs.listMessageMoveTasks({ SourceArn: dead.arn });
      return Results[0].Status === "COMPLETED";
    }, "the task to complete");
    assert.deepEqual(
      [await queue.counts(), await dead.counts()],
      [
        [10, 0, 0],
        [0, 0, 0],
      ],
    );
    assert.deepEqual((await queue.bodies()).sort(), bodies);
  });

  it("keeps topics, subscriptions and filters", async () => {
    const sns = t.connect(SNS);
    const queue = await t.queue();
    const { TopicArn } = await sns.createTopic({ Name: unique("topic"), Attributes: { DisplayName: "kept" } });
    const FilterPolicy = JSON.stringify({ k: ["yes"] });
    const Attributes = { RawMessageDelivery: "true", FilterPolicy };
    await sns.subscribe({ TopicArn, Protocol: "sqs", Endpoint: queue.arn, Attributes });

    await t.server.restart();

    for (const k of ["no", "yes"]) await sns.publish({ TopicArn, Message: k, MessageAttributes: { k: text(k) } });
    assert.deepEqual(await queue.bodies(), ["yes"]);
    assert.equal((await sns.getTopicAttributes({ TopicArn })).Attributes.DisplayName, "kept");
    sns.destroy();
  });

  it("answers waiting receives when it is told to end", async () => {
    const queue = await t.queue();
    const waiting = Promise.all([1, 2, 3].map(() => queue.receive({ WaitTimeSeconds: LONG })));
    const input = { QueueUrl: queue.url, WaitTimeSeconds: LONG, MaxNumberOfMessages: 10 };
    const { length } = JSON.stringify({ ...input, MessageSystemAttributeNames: ["All"] });
    await waitFor(async () => (await t.underWay()) === 3 * length, "three to wait");
    assert.equal(await t.server.terminate(), 0);
    assert.deepEqual(await waiting, [[], [], []]);
    await t.server.start();
    await queue.send("x");
    assert.deepEqual(await queue.bodies(), ["x"]);
  });

  it("loses nothing that was answered, and returns nothing that was deleted, while clients go on", async () => {
    const queue = await t.queue({ VisibilityTimeout: "4" });
    const client = t.connect(SQS);
    const patient = async (call) => {
      for (;;) {
        try {
          return await call(new Queue({ sqs: client }, queue.name, queue.url));
        } catch (error) {
          // There is no server, or it is starting. Everything else is an answer, and wrong.
          if (error.$metadata?.httpStatusCode && error.$metadata.httpStatusCode !== 503) throw error;
          await sleep(20);
        }
      }
    };
    const [sent, came, deleted, back] = [new Set(), new Set(), new Set(), []];
    let [stop, empty] = [false, false];
    const senders = Array.from({ length: 4 }, async (_, who) => {
      for (let i = 0; !stop; i += 1) {
        const body = `${who}-${i}`;
        await patient((q) => q.send(body));
        sent.add(body);
      }
    });
    const workers = Array.from({ length: 3 }, async () => {
      while (!empty) {
        const since = Date.now();
        // Not what is deleted by now: what we got before may have become somebody else's, who deleted it, while we were busy.
        const before = new Set(deleted);
        for (const message of await patient((q) => q.receive({ WaitTimeSeconds: 1 }))) {
          if (before.has(message.MessageId)) back.push(message.MessageId);
          await patient((q) => q.delete(message));
          came.add(message.Body);
          // Later than that, somebody else may hold it, and our delete does nothing.
          if (Date.now() < since + 3500) deleted.add(message.MessageId);
        }
      }
    });
    for (let round = 1; round <= 3; round += 1) {
      const enough = sent.size + 40;
      await waitFor(() => sent.size >= enough, `round ${round}: ${enough} answers`);
      await t.server.restart();
    }
    stop = true;
    await Promise.all(senders);
    await waitFor(
      () => [...sent].every((body) => came.has(body)),
      () => `all ${sent.size} messages; ${[...sent].filter((body) => !came.has(body)).length} did not come`,
    );
    await waitFor(
      async () => `${await queue.counts()}` === "0,0,0",
      async () => `nothing to be left; there is ${await queue.counts()}`,
    );
    empty = true;
    await Promise.all(workers);
    assert.deepEqual(back, []);
    client.destroy();
  });
});

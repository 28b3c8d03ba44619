// Dead-letter queues: the redrive policy, the move itself, and who may use which queue.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { each, LONG, Queue, refused, text, TOGETHER, unique, world } from "./harness.mjs";

const TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
const policy = (deadLetterTargetArn, maxReceiveCount = 1) => ({
  RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
});
const allow = (redrivePermission, sourceQueueArns) => ({
  RedriveAllowPolicy: JSON.stringify({ redrivePermission, sourceQueueArns }),
});

describe("dead letters", TOGETHER, () => {
  const t = world();

  describe("the redrive policy", TOGETHER, () => {
    it("is reported in canonical form, with a number", async () => {
      const [queue, dead] = [await t.queue(), await t.queue()];
      for (const count of [1, "7", 1000]) {
        await queue.set({
          RedrivePolicy: ` { "maxReceiveCount" : ${JSON.stringify(count)}, "deadLetterTargetArn" : "${dead.arn}" } `,
        });
        const { RedrivePolicy } = await queue.attributes("RedrivePolicy");
        assert.equal(RedrivePolicy, policy(dead.arn, Number(count)).RedrivePolicy);
      }
      const created = await t.queue(policy(dead.arn, 5));
      assert.equal((await created.attributes("All")).RedrivePolicy, policy(dead.arn, 5).RedrivePolicy);
      await queue.set({ RedrivePolicy: "" });
      assert.deepEqual(await queue.attributes("RedrivePolicy"), {});
    });

    it("is refused when it is not one", async () => {
      const [queue, dead, fifo] = [await t.queue(), await t.queue(), await t.fifo()];
      const rows = [
        ["not JSON", "nonsense"],
        ["a list", "[]"],
        ["a text", '"x"'],
        ["no target", '{"maxReceiveCount":1}'],
        ["no count", JSON.stringify({ deadLetterTargetArn: dead.arn })],
        ...[0, -1, 1001, "x", 1.5, null].map((n) => [`count ${n}`, policy(dead.arn, n).RedrivePolicy]),
        ["unknown queue", policy(`${dead.arn}-no`).RedrivePolicy],
        ["not an ARN", policy(dead.name).RedrivePolicy],
        ["other account", policy(dead.arn.replace("000000000000", "111111111111")).RedrivePolicy],
        ["a FIFO queue", policy(fifo.arn).RedrivePolicy],
      ];
      await each(rows, async (_, RedrivePolicy) => {
        await refused(queue.set({ RedrivePolicy }), "InvalidParameterValue");
        const create = t.sqs.createQueue({ QueueName: unique(), Attributes: { RedrivePolicy } });
        await refused(create, "InvalidParameterValue");
      });
      await refused(fifo.set(policy(dead.arn)), "InvalidParameterValue");
      assert.deepEqual(await queue.attributes("RedrivePolicy"), {});
    });

    it("may name the queue itself, and make chains and cycles", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      await queue.set(policy(queue.arn));
      const [a, b] = [await t.queue(), await t.queue()];
      await a.set(policy(b.arn));
      await b.set(policy(a.arn));
    });
  });

  describe("the allow policy", TOGETHER, () => {
    it("says which queues may use this one", async () => {
      const [queue, dead] = [await t.queue(), await t.queue()];
      await dead.set(allow("denyAll"));
      await refused(queue.set(policy(dead.arn)), "InvalidParameterValue");
      await dead.set(allow("byQueue", [`${queue.arn}-other`]));
      await refused(queue.set(policy(dead.arn)), "InvalidParameterValue");
      await dead.set(allow("byQueue", [`${queue.arn}-other`, queue.arn]));
      await queue.set(policy(dead.arn));
      const other = await t.queue();
      await refused(other.set(policy(dead.arn)), "InvalidParameterValue");
      await dead.set(allow("allowAll"));
      await other.set(policy(dead.arn));
      assert.deepEqual(JSON.parse((await dead.attributes("RedriveAllowPolicy")).RedriveAllowPolicy), {
        redrivePermission: "allowAll",
      });
      await dead.set(allow("denyAll"));
      await dead.set({ RedriveAllowPolicy: "" });
      assert.deepEqual(await dead.attributes("RedriveAllowPolicy"), {});
      await (await t.queue()).set(policy(dead.arn));
    });

    it("is asked when a queue sets its policy, not later", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await dead.set(allow("denyAll"));
      await queue.send("x");
      await queue.take();
      assert.deepEqual(await queue.receive(), []);
      assert.equal((await dead.take()).Body, "x");
    });

    it("is refused when it is not one", async () => {
      const queue = await t.queue();
      const arns = Array.from({ length: 11 }, (_, i) => `${queue.arn}-${i}`);
      await each(
        [
          ["not JSON", { RedriveAllowPolicy: "nonsense" }],
          ["nothing", { RedriveAllowPolicy: "{}" }],
          ["unknown permission", allow("some")],
          ["by queue without a list", allow("byQueue")],
          ["by queue with an empty list", allow("byQueue", [])],
          ["by queue with eleven", allow("byQueue", arns)],
          ["all with a list", allow("allowAll", [queue.arn])],
          ["none with a list", allow("denyAll", [queue.arn])],
        ],
        (_, attributes) => refused(queue.set(attributes), "InvalidParameterValue"),
      );
      await queue.set(allow("byQueue", arns.slice(1)));
    });
  });

  describe("moving", TOGETHER, () => {
    it("moves a message when it would be handed out once too often, and not before", async () => {
      const { queue, dead } = await t.withDeadLetters(3);
      await queue.send("x");
      for (const count of ["1", "2", "3"]) assert.equal((await queue.take()).Attributes.ApproximateReceiveCount, count);
      assert.deepEqual(
        [await queue.counts(), await dead.counts()],
        [
          [1, 0, 0],
          [0, 0, 0],
        ],
      );
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(
        [await queue.counts(), await dead.counts()],
        [
          [0, 0, 0],
          [1, 0, 0],
        ],
      );
    });

    it("lets the last holder delete it", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await queue.send("x");
      await queue.delete(await queue.take());
      assert.deepEqual(await queue.receive(), []);
      assert.deepEqual(await dead.counts(), [0, 0, 0]);
    });

    it("keeps id, body, attributes, trace, group, sent time and receive count", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      const attributes = { a: text("b", "String.label"), n: { DataType: "Number", StringValue: "1" } };
      const { MessageId } = await queue.send("body ü", {
        MessageAttributes: attributes,
        MessageSystemAttributes: { AWSTraceHeader: text(TRACE) },
        MessageGroupId: "tenant",
      });
      const all = { MessageAttributeNames: ["All"] };
      const before = await queue.take(all);
      assert.equal("DeadLetterQueueSourceArn" in before.Attributes, false);
      await queue.receive();
      const after = await dead.take(all);
      assert.equal(after.MessageId, MessageId);
      assert.deepEqual(
        [after.Body, after.MD5OfBody, after.MessageAttributes, after.MD5OfMessageAttributes],
        [before.Body, before.MD5OfBody, before.MessageAttributes, before.MD5OfMessageAttributes],
      );
      assert.deepEqual(after.Attributes, {
        ...before.Attributes,
        ApproximateReceiveCount: "2",
        DeadLetterQueueSourceArn: queue.arn,
      });
    });

    it("gives the next message instead, and moves as many as are due", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await queue.fill("a", "b", "c");
      await queue.receive();
      await queue.fill("d", "e");
      assert.deepEqual(await queue.bodies({ MaxNumberOfMessages: 2 }), ["d", "e"]);
      assert.deepEqual(await dead.bodies(), ["a", "b", "c"]);
    });

    it("takes no notice of the target's delay", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await dead.set({ DelaySeconds: "900" });
      await queue.send("x");
      await queue.take();
      await queue.receive();
      assert.deepEqual(await dead.bodies(), ["x"]);
    });

    it("moves when a visibility timeout passes while somebody waits", async () => {
      const { queue, dead } = await t.withDeadLetters(1, { VisibilityTimeout: "1" });
      await queue.send("x");
      await queue.take();
      let moved = false;
      const waiting = (async () => {
        while (!moved) assert.deepEqual(await queue.receive({ WaitTimeSeconds: 5 }), []);
      })();
      assert.equal((await dead.take()).Body, "x");
      moved = true;
      await waiting;
    });

    it("goes by the policy of the moment", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await queue.send("x");
      await queue.take();
      await queue.set({ RedrivePolicy: "" });
      for (let i = 0; i < 3; i += 1) await queue.take();
      await queue.set(policy(dead.arn, 4));
      assert.deepEqual(await queue.receive(), []);
      assert.equal((await dead.take()).Attributes.ApproximateReceiveCount, "5");
    });

    it("goes on through a chain", async () => {
      const last = await t.queue();
      const middle = await t.queue({ VisibilityTimeout: "0", ...policy(last.arn, 2) });
      const first = await t.queue({ VisibilityTimeout: "0", ...policy(middle.arn, 1) });
      await first.send("x");
      await first.take();
      await first.receive();
      assert.equal((await middle.take()).Attributes.ApproximateReceiveCount, "2");
      assert.equal((await middle.take()).Attributes.ApproximateReceiveCount, "3");
      assert.deepEqual(await middle.receive(), []);
      const { Attributes } = await last.take();
      assert.equal(Attributes.ApproximateReceiveCount, "4");
      assert.equal(Attributes.DeadLetterQueueSourceArn, middle.arn);
    });

    it("goes on delivering when the dead-letter queue is deleted", async () => {
      const { queue, dead } = await t.withDeadLetters(1);
      await queue.send("x");
      await t.sqs.deleteQueue({ QueueUrl: dead.url });
      for (let i = 1; i <= 3; i += 1) assert.equal((await queue.take()).Attributes.ApproximateReceiveCount, `${i}`);
      assert.equal((await queue.attributes("RedrivePolicy")).RedrivePolicy, policy(dead.arn).RedrivePolicy);
    });
  });

  describe("FIFO", TOGETHER, () => {
    const FIFO = { FifoQueue: "true", DeduplicationScope: "messageGroup" };

    it("keeps the order of a group, which goes on with its next message", async () => {
      const { queue, dead } = await t.withDeadLetters(1, FIFO);
      for (const body of ["1", "2", "3"]) await queue.sendTo("g", body);
      await queue.receive({ MaxNumberOfMessages: 2 });
      assert.deepEqual(await queue.bodies(), ["3"]);
      const letters = await dead.receive();
      assert.deepEqual(
        letters.map(({ Body, Attributes }) => [Body, Attributes.MessageGroupId, Attributes.DeadLetterQueueSourceArn]),
        [
          ["1", "g", queue.arn],
          ["2", "g", queue.arn],
        ],
      );
    });

    it("gives a new sequence number and the message's id for the deduplication id", async () => {
      const { queue, dead } = await t.withDeadLetters(1, FIFO);
      const sent = [];
      for (const group of ["a", "b"]) sent.push(await queue.sendTo(group, group, { MessageDeduplicationId: "same" }));
      await queue.receive();
      assert.deepEqual(await queue.receive(), []);
      const letters = await dead.receive();
      assert.deepEqual(letters.map(({ MessageId }) => MessageId).sort(), sent.map(({ MessageId }) => MessageId).sort());
      for (const { MessageId, Attributes } of letters) {
        assert.equal(Attributes.MessageDeduplicationId, MessageId);
        assert.match(Attributes.SequenceNumber, /^\d{20}$/);
        assert.equal(Attributes.ApproximateReceiveCount, "2");
      }
    });
  });

  describe("source queues", TOGETHER, () => {
    const sources = (queue, more) => t.sqs.listDeadLetterSourceQueues({ QueueUrl: queue.url, ...more });

    it("lists who names a queue, in pages", async () => {
      const dead = await t.queue();
      assert.deepEqual((await sources(dead)).queueUrls ?? [], []);
      const urls = [];
      for (let i = 0; i < 5; i += 1) urls.push((await t.queue(policy(dead.arn))).url);
      assert.deepEqual((await sources(dead)).queueUrls.sort(), urls);
      assert.equal((await sources(dead)).NextToken, undefined);

      const paged = [];
      let NextToken;
      do {
        const page = await sources(dead, { MaxResults: 2, NextToken });
        assert.ok(page.queueUrls.length <= 2);
        paged.push(...page.queueUrls);
        ({ NextToken } = page);
      } while (NextToken !== undefined);
      assert.deepEqual(paged.sort(), urls);
    });

    it("forgets a source that is deleted or changes its policy", async () => {
      const dead = await t.queue();
      const [one, two, three] = [
        await t.queue(policy(dead.arn)),
        await t.queue(policy(dead.arn)),
        await t.queue(policy(dead.arn)),
      ];
      await t.sqs.deleteQueue({ QueueUrl: one.url });
      await two.set({ RedrivePolicy: "" });
      assert.deepEqual((await sources(dead)).queueUrls, [three.url]);
      await refused(sources(new Queue(t, "x", `${dead.url}-no`)), "QueueDoesNotExist");
    });
  });

  it("is polled like any queue", async () => {
    const { queue, dead } = await t.withDeadLetters(1);
    const waiting = dead.take({ WaitTimeSeconds: LONG });
    await queue.send("x");
    await queue.take();
    await queue.receive();
    await dead.delete(await waiting);
    assert.deepEqual(await dead.counts(), [0, 0, 0]);
  });
});

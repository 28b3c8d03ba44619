// Moving dead letters back: start, list, cancel.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertNotBefore,
  assertRecent,
  each,
  refused,
  sleep,
  text,
  TOGETHER,
  unique,
  UUID,
  waitFor,
  world,
} from "./harness.mjs";

describe("move tasks", TOGETHER, () => {
  const t = world();
  const start = (dead, more = {}) => t.sqs.startMessageMoveTask({ SourceArn: dead.arn, ...more });
  const list = async (dead, MaxResults) =>
    (await t.sqs.listMessageMoveTasks({ SourceArn: dead.arn, MaxResults })).Results ?? [];
  const cancel = (TaskHandle) => t.sqs.cancelMessageMoveTask({ TaskHandle });

  /** Waits until the newest task has this status; the task. */
  async function reached(dead, status) {
    let task;
    await waitFor(
      async () => {
        [task] = await list(dead);
        return task?.Status === status;
      },
      () => `the task to be ${status}; it is ${JSON.stringify(task)}`,
    );
    return task;
  }

  /** A queue whose messages with these texts are in its dead-letter queue. */
  async function withLetters(bodies, attributes = {}) {
    const { queue, dead } = await t.withDeadLetters(1, attributes);
    for (const body of bodies) {
      const more = attributes.FifoQueue ? { MessageGroupId: body[0], MessageDeduplicationId: unique("d") } : {};
      await queue.send(body, { MessageAttributes: { a: text(body) }, ...more });
    }
    for (let got = 0; got < bodies.length;) got += (await queue.receive()).length;
    await waitFor(async () => {
      await queue.receive();
      return (await dead.counts())[0] === bodies.length;
    }, `${bodies.length} dead letters`);
    await queue.set({ VisibilityTimeout: "900" });
    return { queue, dead };
  }

  it("returns every message to the queue it came from, as a new one", async () => {
    const { queue, dead } = await withLetters(["a", "b", "c"]);
    const letters = await dead.receive({ VisibilityTimeout: 0 });
    const before = Date.now();
    const { TaskHandle } = await start(dead);
    const { taskId, sourceArn } = JSON.parse(Buffer.from(TaskHandle, "base64").toString());
    assert.match(taskId, UUID);
    assert.equal(sourceArn, dead.arn);

    const task = await reached(dead, "COMPLETED");
    assertRecent(task.StartedTimestamp);
    assert.deepEqual(task, {
      Status: "COMPLETED",
      SourceArn: dead.arn,
      ApproximateNumberOfMessagesMoved: 3,
      ApproximateNumberOfMessagesToMove: 3,
      StartedTimestamp: task.StartedTimestamp,
    });
    assert.deepEqual(await dead.counts(), [0, 0, 0]);
    const got = await queue.receive({ MessageAttributeNames: ["All"] });
    assert.deepEqual(
      got.map(({ Body, MessageAttributes }) => [Body, MessageAttributes.a.StringValue]),
      ["a", "b", "c"].map((body) => [body, body]),
    );
    for (const [i, { MessageId, Attributes }] of got.entries()) {
      assert.notEqual(MessageId, letters[i].MessageId);
      assert.equal(Attributes.ApproximateReceiveCount, "1");
      assert.equal("DeadLetterQueueSourceArn" in Attributes, false);
      assertNotBefore(Number(Attributes.SentTimestamp), before);
    }
  });

  it("brings each back to its own source", async () => {
    const { queue, dead } = await withLetters(["a"]);
    const RedrivePolicy = (await queue.attributes("RedrivePolicy")).RedrivePolicy;
    const other = await t.queue({ VisibilityTimeout: "0", RedrivePolicy });
    await other.send("o");
    await other.take();
    await other.receive();
    await start(dead);
    await reached(dead, "COMPLETED");
    assert.deepEqual([await queue.bodies(), await other.bodies()], [["a"], ["o"]]);
  });

  it("moves to a destination of choice", async () => {
    const { queue, dead } = await withLetters(["a", "b"]);
    const other = await t.queue();
    await start(dead, { DestinationArn: other.arn });
    const task = await reached(dead, "COMPLETED");
    assert.equal(task.DestinationArn, other.arn);
    assert.deepEqual([await other.bodies(), await queue.bodies()], [["a", "b"], []]);
  });

  it("wakes who waits for the messages", async () => {
    const { queue, dead } = await withLetters(["a"]);
    const waiting = queue.take();
    await sleep(200);
    await start(dead);
    assert.equal((await waiting).Body, "a");
  });

  it("does not touch what is in flight in the dead-letter queue", async () => {
    const { queue, dead } = await withLetters(["a", "b"]);
    const held = await dead.take({ VisibilityTimeout: 900 });
    await start(dead);
    const task = await reached(dead, "COMPLETED");
    assert.equal(task.ApproximateNumberOfMessagesToMove, 1);
    assert.deepEqual(await queue.bodies(), ["b"]);
    await dead.delete(held);
    assert.deepEqual(await dead.counts(), [0, 0, 0]);
  });

  it("completes with nothing to move", async () => {
    const { dead } = await t.withDeadLetters();
    await start(dead);
    const task = await reached(dead, "COMPLETED");
    assert.equal(task.ApproximateNumberOfMessagesMoved, 0);
  });

  it("spreads the messages over the time with a rate", async () => {
    const { queue, dead } = await withLetters(["a", "b", "c", "d"]);
    const since = Date.now();
    const { TaskHandle } = await start(dead, { MaxNumberOfMessagesPerSecond: 2 });
    const [running] = await list(dead);
    if (running.Status === "RUNNING") {
      assert.equal(running.MaxNumberOfMessagesPerSecond, 2);
      assert.equal(running.TaskHandle, TaskHandle);
    }
    const task = await reached(dead, "COMPLETED");
    assertNotBefore(Date.now(), since + 1000);
    assert.equal(task.MaxNumberOfMessagesPerSecond, 2);
    assert.equal(task.TaskHandle, undefined);
    assert.deepEqual(await queue.bodies(), ["a", "b", "c", "d"]);
  });

  it("runs one task at a time for a source, and stops it on demand", async () => {
    const bodies = Array.from({ length: 40 }, (_, i) => `${i}`);
    const { queue, dead } = await withLetters(bodies);
    const { TaskHandle } = await start(dead, { MaxNumberOfMessagesPerSecond: 1 });
    const [running] = await list(dead);
    assert.deepEqual([running.Status, running.TaskHandle], ["RUNNING", TaskHandle]);
    assert.equal(running.ApproximateNumberOfMessagesToMove, 40);
    await refused(start(dead), "InvalidParameterValue");

    const { ApproximateNumberOfMessagesMoved: moved } = await cancel(TaskHandle);
    assert.ok(moved >= 0 && moved < 40, `${moved}`);
    const task = await reached(dead, "CANCELLED");
    assert.equal(task.TaskHandle, undefined);
    const settled = task.ApproximateNumberOfMessagesMoved;
    assert.deepEqual([(await queue.counts())[0], (await dead.counts())[0]], [settled, 40 - settled]);
    await sleep(1200);
    assert.equal((await queue.counts())[0], settled);
    await refused(cancel(TaskHandle), "ResourceNotFoundException");

    await start(dead);
    await reached(dead, "COMPLETED");
    const got = (await queue.drain(40)).map(({ Body }) => Body);
    assert.deepEqual(new Set(got), new Set(bodies));
  });

  it("lists the newest tasks first, as many as asked for", async () => {
    const { queue, dead } = await withLetters(["a"]);
    await start(dead);
    await reached(dead, "COMPLETED");
    await sleep(20);
    await start(dead, { DestinationArn: queue.arn });
    await waitFor(async () => (await list(dead, 10)).every(({ Status }) => Status === "COMPLETED"), "both to complete");
    assert.equal((await list(dead)).length, 1);
    const all = await list(dead, 10);
    assert.deepEqual(
      all.map(({ DestinationArn }) => DestinationArn),
      [queue.arn, undefined],
    );
    assert.deepEqual(await list((await t.withDeadLetters()).dead), []);
  });

  it("fails when the destination is deleted meanwhile", async () => {
    const { dead } = await withLetters(Array.from({ length: 30 }, (_, i) => `${i}`));
    const other = await t.queue();
    await start(dead, { DestinationArn: other.arn, MaxNumberOfMessagesPerSecond: 1 });
    await t.sqs.deleteQueue({ QueueUrl: other.url });
    const task = await reached(dead, "FAILED");
    assert.equal(task.FailureReason, "AWS.SimpleQueueService.NonExistentQueue");
    assert.equal((await dead.counts())[0], 30 - task.ApproximateNumberOfMessagesMoved);
  });

  it("leaves a message where it is that came from no queue", async () => {
    const { dead } = await t.withDeadLetters();
    await dead.send("sent here directly");
    await start(dead);
    await waitFor(async () => (await list(dead))[0].Status !== "RUNNING", "the task to end");
    assert.deepEqual(await dead.bodies(), ["sent here directly"]);
  });

  it("keeps the order of FIFO groups, and no deduplication swallows a message", async () => {
    const { queue, dead } = await withLetters(["a1", "b1", "a2", "a3"], { FifoQueue: "true" });
    await start(dead, { DestinationArn: queue.arn });
    await reached(dead, "COMPLETED");
    const got = await queue.drain(4);
    assert.deepEqual(
      got.map(({ Body }) => Body).filter((body) => body.startsWith("a")),
      ["a1", "a2", "a3"],
    );
    for (const { Body, Attributes } of got) {
      assert.equal(Attributes.MessageGroupId, Body[0]);
      assert.equal(Attributes.ApproximateReceiveCount, "1");
    }
  });

  it("refuses what it cannot do", async () => {
    const { queue, dead } = await t.withDeadLetters();
    const fifo = await t.fifo();
    const unknown = { arn: `${dead.arn}-no` };
    const handle = (task) => Buffer.from(JSON.stringify(task)).toString("base64");
    const taskId = "00000000-0000-4000-8000-000000000000";
    await each(
      [
        ["not a dead-letter queue", () => start(queue), "InvalidParameterValue"],
        ["unknown source", () => start(unknown), "ResourceNotFoundException"],
        ["unknown destination", () => start(dead, { DestinationArn: unknown.arn }), "ResourceNotFoundException"],
        ["destination of the other type", () => start(dead, { DestinationArn: fifo.arn }), "InvalidParameterValue"],
        ["rate 0", () => start(dead, { MaxNumberOfMessagesPerSecond: 0 }), "InvalidParameterValue"],
        ["rate 501", () => start(dead, { MaxNumberOfMessagesPerSecond: 501 }), "InvalidParameterValue"],
        ["list of an unknown source", () => list(unknown), "ResourceNotFoundException"],
        ["list of 0", () => list(dead, 0), "InvalidParameterValue"],
        ["list of 11", () => list(dead, 11), "InvalidParameterValue"],
        ["not a handle", () => cancel("nonsense"), "InvalidParameterValue"],
        ["unknown task", () => cancel(handle({ taskId, sourceArn: dead.arn })), "ResourceNotFoundException"],
        [
          "unknown source in the handle",
          () => cancel(handle({ taskId, sourceArn: unknown.arn })),
          "ResourceNotFoundException",
        ],
      ],
      (_, call, error) => refused(call(), error),
    );
  });
});

// sqs-consumer, unmodified, as an application would use it. Handlers return the message: newer versions delete only then.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Consumer } from "sqs-consumer";
import { sleep, text, TOGETHER, waitFor, world } from "./harness.mjs";

describe("sqs-consumer", TOGETHER, () => {
  const t = world();

  /** Starts a consumer and runs `body` with it; nothing of it is left afterwards. */
  async function consuming(queue, options, body) {
    const seen = { errors: [], empty: 0, processed: 0 };
    const consumer = Consumer.create({ queueUrl: queue.url, sqs: t.sqs, waitTimeSeconds: 1, ...options });
    consumer.on("error", (error) => seen.errors.push(error));
    consumer.on("processing_error", (error) => seen.errors.push(error));
    consumer.on("empty", () => (seen.empty += 1));
    consumer.on("message_processed", () => (seen.processed += 1));
    const stopped = new Promise((resolve) => consumer.on("stopped", resolve));
    consumer.start();
    try {
      await body(seen, consumer);
    } finally {
      consumer.stop({ abort: true });
      await stopped;
    }
    return seen;
  }
  const gone = (queue) =>
    waitFor(
      async () => `${await queue.counts()}` === "0,0,0",
      async () => `nothing to be left; there is ${await queue.counts()}`,
    );

  it("handles messages one by one and deletes them", async () => {
    const queue = await t.queue();
    const got = [];
    const options = {
      messageAttributeNames: ["All"],
      messageSystemAttributeNames: ["ApproximateReceiveCount"],
      handleMessage: async (message) => {
        got.push(message);
        return message;
      },
    };
    await queue.send("with attributes", { MessageAttributes: { a: text("b") } });
    const seen = await consuming(queue, options, async (now) => {
      await queue.fill("two", "three");
      await waitFor(() => now.processed === 3, "three messages to be processed");
    });
    assert.deepEqual(got.map(({ Body }) => Body).sort(), ["three", "two", "with attributes"]);
    const first = got.find(({ Body }) => Body === "with attributes");
    assert.equal(first.MessageAttributes.a.StringValue, "b");
    assert.equal(first.Attributes.ApproximateReceiveCount, "1");
    assert.deepEqual(seen.errors, []);
    await gone(queue);
  });

  it("handles batches and deletes those that the handler returns", async () => {
    const queue = await t.queue({ VisibilityTimeout: "900" });
    await queue.fill(...Array.from({ length: 25 }, (_, i) => `${i}`));
    const got = [];
    const options = {
      batchSize: 10,
      handleMessageBatch: async (messages) => {
        got.push(...messages.map(({ Body }) => Body));
        return messages.filter(({ Body }) => Body !== "13");
      },
    };
    await consuming(queue, options, () =>
      waitFor(async () => got.length >= 25 && `${await queue.counts()}` === "0,1,0", "all but one to be deleted"),
    );
    assert.equal(new Set(got).size, 25);
  });

  it("polls empty queues without errors, also in the default way", async () => {
    const queue = await t.queue();
    const options = { handleMessage: async (message) => message };
    const seen = await consuming(queue, options, (now) => waitFor(() => now.empty >= 2, "two empty answers"));
    assert.deepEqual(seen.errors, []);
    await consuming(queue, { ...options, waitTimeSeconds: undefined }, async (now) => {
      await sleep(300);
      await queue.send("x");
      await waitFor(() => now.processed === 1, "a message in a long poll");
    });
    await gone(queue);
  });

  it("keeps a message for as long as the handler takes, by heartbeats", async () => {
    const queue = await t.queue({ VisibilityTimeout: "2" });
    await queue.fill("x");
    let handled = 0;
    const options = {
      visibilityTimeout: 30,
      heartbeatInterval: 1,
      handleMessage: async (message) => {
        handled += 1;
        await sleep(3500);
        return message;
      },
    };
    const seen = await consuming(queue, options, (now) => waitFor(() => now.processed === 1, "the handler to end"));
    assert.equal(handled, 1);
    // One heartbeat may be on its way when the message is deleted, and finds it gone.
    const late = seen.errors.filter((error) => error.message.endsWith("the message is not there any more"));
    assert.ok(late.length <= 1, late.map(String).join());
    assert.deepEqual(seen.errors.filter((error) => !late.includes(error)), []);
    await gone(queue);
  });

  it("keeps a batch by heartbeats", async () => {
    const queue = await t.queue({ VisibilityTimeout: "2" });
    await queue.fill("a", "b", "c");
    const batches = [];
    const options = {
      batchSize: 10,
      visibilityTimeout: 30,
      heartbeatInterval: 1,
      handleMessageBatch: async (messages) => {
        batches.push(messages.length);
        await sleep(2500);
        return messages;
      },
    };
    const seen = await consuming(queue, options, () => gone(queue));
    assert.deepEqual([batches, seen.errors], [[3], []]);
  });

  it("gets a message again after an error, when its timeout is over or at once when it gives it back", async () => {
    for (const [terminateVisibilityTimeout, VisibilityTimeout] of [
      [false, "1"],
      [true, "900"],
    ]) {
      const queue = await t.queue({ VisibilityTimeout });
      await queue.send("x");
      const counts = [];
      const options = {
        terminateVisibilityTimeout,
        messageSystemAttributeNames: ["ApproximateReceiveCount"],
        handleMessage: async (message) => {
          counts.push(message.Attributes.ApproximateReceiveCount);
          if (counts.length < 3) throw new Error("not yet");
          return message;
        },
      };
      const seen = await consuming(queue, options, (now) => waitFor(() => now.processed === 1, "the third attempt"));
      assert.deepEqual(counts, ["1", "2", "3"]);
      assert.equal(seen.errors.length, 2);
      await gone(queue);
    }
  });

  it("leaves a poison message to the dead-letter queue", async () => {
    const { queue, dead } = await t.withDeadLetters(2);
    await queue.fill("poison", "good");
    const options = {
      handleMessage: async (message) => {
        if (message.Body === "poison") throw new Error("it is");
        return message;
      },
    };
    await consuming(queue, options, async () => {
      await gone(queue);
      assert.equal((await dead.take()).Body, "poison");
    });
  });

  it("loses nothing when consumers come and go", async () => {
    const queue = await t.queue({ VisibilityTimeout: "1" });
    const sent = Array.from({ length: 60 }, (_, i) => `${i}`);
    const got = new Set();
    const options = {
      batchSize: 10,
      handleMessage: async (message) => {
        got.add(message.Body);
        return message;
      },
    };
    await queue.fill(...sent);
    for (let round = 0; round < 5; round += 1) {
      await consuming(queue, options, () => sleep(50));
    }
    await consuming(queue, options, () =>
      waitFor(
        () => got.size === 60,
        () => `60 messages; ${got.size} came`,
      ),
    );
    assert.deepEqual(
      [...got].sort((a, b) => a - b),
      sent,
    );
  });
});

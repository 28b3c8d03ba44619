// A payment by a worker that pulls with the official client: one atomic request acknowledges the message by its receipt, books
// the money, completes the key and sends the next message.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Consumer } from "sqs-consumer";
import { Payments } from "../lib/payments.mjs";
import { waitFor, world } from "./harness.mjs";

// The credentials of --dev are public by design.
const DEV_TOKEN = "eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=";

describe("payments", () => {
  const t = world();

  it("are booked exactly once, wherever the server dies", async () => {
    const queue = await t.queue({ VisibilityTimeout: "2" });
    const receipts = await t.queue();
    const payments = new Payments(
      t.server,
      (method, target, options) => t.server.raw(method, target, { token: DEV_TOKEN, ...options }),
      (number) => ({ op: "publish", queue: receipts.name, body: `receipt-${number}` }),
    );
    await payments.open();

    const workers = Array.from({ length: 3 }, () => {
      const consumer = Consumer.create({
        queueUrl: queue.url,
        sqs: t.sqs,
        waitTimeSeconds: 1,
        batchSize: 3,
        shouldDeleteMessages: false, // the ack of the transact does
        authenticationErrorTimeout: 50,
        pollingWaitTimeMs: 10,
        handleMessage: async ({ Body, MessageId, ReceiptHandle }) => {
          const done = await payments.handle(Number(Body), MessageId, { receipt: ReceiptHandle });
          if (done === "before") await queue.delete({ ReceiptHandle });
        },
      });
      // The server is gone: the message comes again.
      for (const event of ["error", "processing_error", "timeout_error"]) consumer.on(event, () => {});
      return { consumer, stopped: new Promise((resolve) => consumer.on("stopped", resolve)) };
    });
    for (const { consumer } of workers) consumer.start();
    try {
      const acknowledged = new Set();
      await payments.throughCrashes(async (number) => {
        // Sent again when its answer was lost: two messages are one payment.
        await queue.send(`${number}`);
        acknowledged.add(number);
      });
      await payments.check();
      await waitFor(
        async () => `${await queue.counts()}` === "0,0,0",
        async () => `nothing to be left; there is ${await queue.counts()}`,
      );
      assert.equal(acknowledged.size, payments.sent);
    } finally {
      for (const { consumer } of workers) consumer.stop({ abort: true });
      await Promise.all(workers.map(({ stopped }) => stopped));
    }
    const sent = (await receipts.drain(payments.sent)).map(({ Body }) => Body);
    assert.equal(new Set(sent).size, payments.sent, "a receipt for each payment");
    assert.deepEqual(await receipts.bodies(), []);
    assert.ok(payments.sent > 20, `only ${payments.sent} payments were made`);
  });
});

// Message groups on standard queues: tenants, of whom a noisy one must not hold up the others.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { each, refused, TOGETHER, world } from "./harness.mjs";

describe("fair queues", TOGETHER, () => {
  const t = world();
  const to = (MessageGroupId) => ({ MessageGroupId });
  const many = (count, name) => Array.from({ length: count }, (_, i) => `${name}${i}`);

  async function fill(queue, group, bodies) {
    for (let i = 0; i < bodies.length; i += 10) {
      const some = bodies
        .slice(i, i + 10)
        .map((MessageBody, n) => ({ Id: `${n}`, MessageBody, MessageGroupId: group }));
      assert.equal((await queue.sendBatch(some)).Failed, undefined);
    }
  }

  it("gives the group back, and blocks and deduplicates nothing", async () => {
    const queue = await t.queue({ VisibilityTimeout: "900" });
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push((await queue.send("same", to("tenant"))).MessageId);
    const sent = await queue.send("same", to("tenant"));
    assert.equal(sent.SequenceNumber, undefined);
    assert.equal(new Set(ids).size, 3);
    for (let i = 0; i < 4; i += 1) {
      const { Attributes } = await queue.take();
      assert.equal(Attributes.MessageGroupId, "tenant");
      assert.equal("SequenceNumber" in Attributes, false);
      assert.equal("MessageDeduplicationId" in Attributes, false);
    }
    await queue.send("without");
    assert.equal("MessageGroupId" in (await queue.take()).Attributes, false);
  });

  it("refuses malformed groups and every deduplication id", async () => {
    const queue = await t.queue();
    await each(
      ["", "a b", "ü", "x".repeat(129)].map((group) => [group]),
      (group) => refused(queue.send("x", to(group)), "InvalidParameterValue"),
    );
    await refused(queue.send("x", { MessageDeduplicationId: "d" }), "InvalidParameterValue");
    await refused(queue.send("x", { ...to("g"), MessageDeduplicationId: "d" }), "InvalidParameterValue");
  });

  it("hands out all of a quiet tenant before more of one that has much in flight", async () => {
    const queue = await t.queue({ VisibilityTimeout: "900" });
    await fill(queue, "noisy", many(80, "n"));
    for (let i = 0; i < 4; i += 1) assert.equal((await queue.receive()).length, 10);
    await fill(queue, "quiet", many(15, "q"));

    assert.deepEqual((await queue.bodies()).sort(), many(10, "q"));
    const got = await queue.bodies();
    assert.equal(got.length, 10);
    assert.deepEqual(got.filter((body) => body.startsWith("q")).sort(), many(15, "q").slice(10));
  });

  for (const [who, group] of [
    ["another tenant", "quiet"],
    ["messages without a group", undefined],
  ])
    it(`hands out ${who} before the backlog of a noisy tenant`, async () => {
      const queue = await t.queue({ VisibilityTimeout: "900" });
      await fill(queue, "noisy", many(200, "n"));
      for (let i = 0; i < 4; i += 1) assert.equal((await queue.receive()).length, 10);

      await fill(queue, group, many(5, "q"));

      const got = await queue.bodies();
      assert.deepEqual(got.filter((body) => body.startsWith("q")).sort(), many(5, "q"));
      // With only the noisy one's left they come as usual.
      assert.equal(got.length, 10);
      let left = 200 - 40 - 5;
      while (left > 0) {
        const { length } = await queue.receive();
        assert.ok(length > 0, `${left} did not come`);
        left -= length;
      }
    });
});

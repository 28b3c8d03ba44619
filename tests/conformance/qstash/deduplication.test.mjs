// The same message twice.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { world } from "./harness.mjs";

describe("deduplication", () => {
  const t = world();

  it("answers a duplicate with the first one's id, 202 and deduplicated", async () => {
    const hook = t.hook();
    const request = { url: hook.url, body: "1", deduplicationId: t.name("dedup") };

    const first = await t.client.publish(request);
    const second = await t.client.publish({ ...request, body: "2" });
    const raw = await t.raw("POST", `/v2/publish/${hook.url}`, {
      body: "3",
      headers: { "Upstash-Deduplication-Id": request.deduplicationId },
    });

    assert.equal("deduplicated" in first, false);
    assert.equal(second.messageId, first.messageId);
    assert.equal(second.deduplicated, true);
    assert.equal(raw.status, 202);
    assert.deepEqual(raw.json(), { messageId: first.messageId, url: hook.url, deduplicated: true });
    await hook.one();
    await t.settle();
    assert.deepEqual(hook.bodies, ["1"]);
    await t.waitStates(first.messageId, "CREATED", "ACTIVE", "DELIVERED");
  });

  it("stores one of many that come at once", async () => {
    const hook = t.hook();
    const request = { url: hook.url, body: "x", deduplicationId: t.name("dedup") };

    const answers = await Promise.all(Array.from({ length: 50 }, () => t.client.publish(request)));

    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 1);
    assert.equal(answers.filter(({ deduplicated }) => deduplicated !== true).length, 1);
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  it("decides by id and destination", async () => {
    const deduplicationId = t.name("dedup");

    const one = await t.client.publish({ url: t.hook().url, body: "x", deduplicationId });
    const other = await t.client.publish({ url: t.hook().url, body: "x", deduplicationId });

    assert.notEqual(one.messageId, other.messageId);
    assert.equal("deduplicated" in other, false);
  });

  it("blocks after a delivery, a failure and a cancellation, too", async () => {
    const cancelled = { delay: "1h", url: t.hook().url, deduplicationId: t.name("dedup") };
    const failed = { url: t.hook(500).url, retries: 0, deduplicationId: t.name("dedup") };
    const [a, b] = [await t.client.publish(cancelled), await t.client.publish(failed)];
    await t.client.messages.cancel(a.messageId);
    await t.waitDeadLetter(b.messageId);

    for (const [request, { messageId }] of [
      [cancelled, a],
      [failed, b],
    ]) {
      const again = await t.client.publish(request);
      assert.equal(again.messageId, messageId);
      assert.equal(again.deduplicated, true);
    }
  });

  it("by content covers destination, body, type and forwarded headers", async () => {
    const [hook, other] = [t.hook(), t.hook()];
    const request = { url: hook.url, body: "content", contentBasedDeduplication: true, headers: { "X-A": "1" } };

    const first = await t.client.publish(request);
    const same = await t.client.publish({ ...request, retries: 7 });
    const different = [];
    for (const change of [
      { body: "other" },
      { url: other.url },
      { headers: { "X-A": "2" } },
      { headers: { "X-A": "1", "Content-Type": "a/b" } },
    ]) {
      different.push(await t.client.publish({ ...request, ...change }));
    }

    assert.equal(same.messageId, first.messageId);
    assert.equal(same.deduplicated, true);
    assert.equal(new Set([first, ...different].map(({ messageId }) => messageId)).size, 5);
    assert.equal(
      different.some(({ deduplicated }) => deduplicated),
      false,
    );
  });

  it("by content takes True and false as Python writes them", async () => {
    const hook = t.hook();
    const publish = (value) =>
      t.raw("POST", `/v2/publish/${hook.url}`, {
        body: "py",
        headers: { "Upstash-Content-Based-Deduplication": value },
      });

    assert.equal((await publish("True")).json().deduplicated, undefined);
    assert.equal((await publish("True")).json().deduplicated, true);
    assert.equal((await publish("False")).json().deduplicated, undefined);
  });

  it("lets an explicit id win over the content", async () => {
    const request = { url: t.hook().url, body: "same", contentBasedDeduplication: true };

    const one = await t.client.publish({ ...request, deduplicationId: t.name("dedup") });
    const two = await t.client.publish({ ...request, deduplicationId: t.name("dedup") });

    assert.notEqual(one.messageId, two.messageId);
  });
});

describe("deduplication window", () => {
  const t = world({ flags: ["--dedup-window", "300ms"] });

  it("ends", async () => {
    const request = { url: t.hook().url, body: "x", deduplicationId: "short" };
    const first = await t.client.publish(request);

    let next;
    do next = await t.client.publish(request);
    while (
      next.messageId === first.messageId &&
      Date.now() - (await t.client.messages.get(first.messageId)).createdAt < 20_000
    );

    assert.notEqual(next.messageId, first.messageId);
    assert.equal("deduplicated" in next, false);
  });
});

// When a failed attempt is repeated.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitFor, world } from "./harness.mjs";

/** The wait that the log announces before the first retry, in milliseconds. */
async function firstWait(t, messageId) {
  return waitFor(async () => {
    const log = await t.log(messageId);
    const [error, retry] = ["ERROR", "RETRY"].map((state) => log.find((entry) => entry.state === state));
    return retry && { wait: retry.nextDeliveryTime - error.time };
  }, `${messageId} to be retried`).then(({ wait }) => wait);
}

function assertWait(actual, expected, slack = 1500) {
  assert.ok(actual >= expected - 50 && actual <= expected + slack, `waits ${actual} ms, expected ${expected}`);
}

describe("retries", () => {
  const t = world();

  it("waits 12 s before the first retry when nothing else is said", async () => {
    const { messageId } = await t.client.publish({ url: t.hook(500).url, body: "x" });

    assertWait(await firstWait(t, messageId), Math.exp(2.5) * 1000);
    const message = await t.client.messages.get(messageId);
    assert.ok(message.notBefore >= message.createdAt + 12_000, "notBefore moves to the next attempt");
  });

  for (const [expression, expected] of [
    ["0", 0],
    ["5000", 5000],
    ["5000 * (1 + retried)", 5000],
    ["pow(2, retried) * 7000", 7000],
    ["sqrt(16) * 1000", 4000],
    ["abs(-3000)", 3000],
    ["exp(0)*2000", 2000],
    ["floor(3.9) * 1000", 3000],
    ["ceil(3.1)*1000", 4000],
    ["round(2.6)*1000", 3000],
    ["min(9000, 4000)", 4000],
    ["max(1000, 6000)", 6000],
    ["-1000 + 2500", 1500],
    ["0 - 5", 0],
    ["1 / 0", 86_400_000],
    ["99999999999", 86_400_000],
  ]) {
    it(`understands retryDelay "${expression}"`, async () => {
      const { messageId } = await t.client.publish({
        url: t.hook(500).url,
        body: "x",
        retries: 1,
        retryDelay: expression,
      });

      assertWait(await firstWait(t, messageId), expected);
      await t.client.messages.cancel(messageId).catch(() => {});
    });
  }

  it("counts `retried` from 0 and stops after the last retry", async () => {
    const hook = t.hook(500);

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 2, retryDelay: "300 * retried" });

    await t.waitStates(
      messageId,
      "CREATED",
      "ACTIVE",
      "ERROR",
      "RETRY",
      "ACTIVE",
      "ERROR",
      "RETRY",
      "ACTIVE",
      "ERROR",
      "FAILED",
    );
    assert.deepEqual(
      hook.requests.map(({ headers }) => headers["upstash-retried"]),
      ["0", "1", "2"],
    );
    const log = await t.log(messageId);
    assert.ok(log[6].nextDeliveryTime >= log[5].time + 300, JSON.stringify(log.slice(5, 8)));
    assert.ok(log[7].time >= log[6].nextDeliveryTime, JSON.stringify(log.slice(5, 8)));
    assert.equal((await t.waitDeadLetter(messageId)).maxRetries, 2);
  });

  for (const [name, headers, expected] of [
    ["Retry-After in seconds", { "Retry-After": "30" }, 30_000],
    ["Retry-After 0", { "Retry-After": "0" }, 0],
    ["a duration", { "Retry-After": "6m5s" }, 365_000],
    ["a duration with milliseconds", { "Retry-After": "1s500ms" }, 1500],
    ["X-RateLimit-Reset", { "X-RateLimit-Reset": "40" }, 40_000],
    ["X-RateLimit-Reset-Requests", { "X-RateLimit-Reset-Requests": "50s" }, 50_000],
    ["X-RateLimit-Reset-Tokens", { "X-RateLimit-Reset-Tokens": "1m" }, 60_000],
    [
      "the first of several",
      { "X-RateLimit-Reset-Tokens": "99", "Retry-After": "20", "X-RateLimit-Reset": "70" },
      20_000,
    ],
    ["an unreadable one as none", { "Retry-After": "tomorrow" }, 5000],
    ["more than a day as none", { "X-RateLimit-Reset": `${Math.floor(Date.now() / 1000) + 60}` }, 5000],
    ["a date in the past as at once", { "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT" }, 0],
  ]) {
    it(`obeys ${name}`, async () => {
      const { messageId } = await t.client.publish({
        url: t.hook({ status: 500, headers }).url,
        body: "x",
        retries: 1,
        retryDelay: "5000",
      });

      assertWait(await firstWait(t, messageId), expected);
      await t.client.messages.cancel(messageId).catch(() => {});
    });
  }

  it("obeys a date", async () => {
    const date = new Date(Date.now() + 600_000);
    const { url } = t.hook({ status: 429, headers: { "Retry-After": date.toUTCString() } });

    const { messageId } = await t.client.publish({ url, body: "x" });

    await firstWait(t, messageId);
    const { nextDeliveryTime } = (await t.log(messageId)).find(({ state }) => state === "RETRY");
    assert.ok(Math.abs(nextDeliveryTime - date) < 2000, `${nextDeliveryTime - date}`);
  });

  it("does not overtake itself: one attempt of a message at a time", async () => {
    const hook = t.hook(500).hold();

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 3, retryDelay: "0" });
    await hook.one();
    await t.settle();

    assert.equal(hook.requests.length, 1);
    hook.release();
    await t.waitDeadLetter(messageId);
    assert.equal(hook.runningMax, 1);
    assert.equal(hook.requests.length, 4);
  });
});

// The schedules of retries (webhooks-api 13.4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertNotBefore, FAIL, quick, SUCCESS, waitFor, world } from "./harness.mjs";

const MINUTE = 60_000;

describe("the schedule", () => {
  const t = world();

  it("begins with 0 s and 5 s, give or take a fifth", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200] });
    const { id } = await t.send(app);
    const [first, second] = await hook.wait(2);
    assertNotBefore(second.at, first.at + 4000);
    assert.ok(second.at - first.at < 30_000, `${second.at - first.at}`);
    await t.waitStatus(app, id, ep, SUCCESS);
  });

  it("goes on as each preset says", async () => {
    for (const [preset, second, third] of [
      ["standard", 5_000, 5 * MINUTE],
      ["svix", 5_000, 5 * MINUTE],
      ["eight-step", MINUTE, 5 * MINUTE],
    ]) {
      const { app, ep, hook } = await t.customer({ answers: [500], options: { retry: { preset, jitter: 0 } } });
      const { id } = await t.send(app);
      const { at } = await hook.one();
      const first = await t.waitRetry(app, id, ep);
      assert.ok(Math.abs(first.nextAttempt - at - second) < 3000, `${preset}: ${first.nextAttempt - at}`);
      if (second > 5_000) continue;
      const [, again] = await hook.wait(2);
      const next = async () => (await t.delivery(app, id, ep)).nextAttempt;
      await waitFor(async () => (await next()) > again.at + MINUTE, "the third attempt to be planned");
      assert.ok(Math.abs((await next()) - again.at - third) < 5000, `${preset}: ${(await next()) - again.at}`);
    }
  });

  it("spreads retries by its jitter, never beyond", async () => {
    const app = await t.app();
    const hook = t.hook(500);
    const ep = (await t.endpoint(app, hook)).id;
    await t.options(app, ep, { retry: { delays: [0, 1000], jitter: 0.2 }, circuit: null, disable: null });
    const gaps = [];
    for (let i = 0; i < 12; i += 1) {
      const { id } = await t.send(app);
      await waitFor(() => hook.requests.length > i, "the attempt");
      const { nextAttempt } = await t.waitRetry(app, id, ep);
      gaps.push(nextAttempt - hook.requests[i].at);
    }
    for (const gap of gaps) assert.ok(gap > 795_000 && gap < 1_210_000, `${gaps}`);
    assert.ok(Math.max(...gaps) - Math.min(...gaps) > 10_000, `${gaps}`);
  });

  it("waits a minute after a timeout or 429, where it is a preset", async () => {
    for (const answer of [{ status: 429 }, { action: "hang" }]) {
      const { app, ep, hook } = await t.customer({ answers: [answer], options: { retry: { preset: "svix", jitter: 0 }, timeout: 1 } });
      const { id } = await t.send(app);
      const { at } = await hook.one();
      const { nextAttempt } = await t.waitRetry(app, id, ep);
      assert.ok(nextAttempt - at >= MINUTE - 100, `${nextAttempt - at}`);
    }
  });

  it("of one's own has no floor, and counts milliseconds", async () => {
    const { app, ep, hook } = await t.customer({ answers: [429, 429, 200], options: { retry: { delays: [0, 0.25, 0.5], jitter: 0 } } });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS);
    const [one, two, three] = hook.requests;
    assertNotBefore(two.at, one.at + 250);
    assertNotBefore(three.at, two.at + 500);
    assert.ok(three.at - one.at < 30_000);
  });

  it("may delay the first attempt", async () => {
    const { app, hook } = await t.customer({ options: { retry: { delays: [1.5], jitter: 0 } } });
    const before = Date.now();
    await t.send(app);
    const { at } = await hook.one();
    assertNotBefore(at, before + 1500);
  });

  it("ends, and what ended can be looked at", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500], options: quick(4) });
    const { id } = await t.send(app);
    const dead = await t.waitStatus(app, id, ep, FAIL);
    assert.equal(dead.nextAttempt, null);
    assert.equal(hook.requests.length, 4);
    assert.equal((await t.attempts(app, id)).length, 4);
    assert.equal((await t.own("GET", `/jobs/${id}.${ep}`)).status, "FAILED");
  });

  it("applies from the next attempt on when it is changed", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 500, 200], options: { retry: { delays: [0, 1, 3600], jitter: 0 } } });
    const { id } = await t.send(app);
    await hook.one();
    await t.options(app, ep, { retry: { delays: [0, 1, 0.1], jitter: 0 } });
    await t.waitStatus(app, id, ep, SUCCESS);
  });
});

// Counters of an endpoint (webhooks-api 5.5).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, hoursAgo, inHours, quick, refused, waitFor, world } from "./harness.mjs";

describe("statistics of an endpoint", () => {
  const t = world();

  both(t, "count attempts that succeeded and failed", async (c) => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: quick(3) });
    assert.deepEqual(await c.endpoint.getStats(app, ep), { success: 0, pending: 0, sending: 0, fail: 0, canceled: 0 });
    await t.send(app);
    await hook.wait(2);
    let seen;
    await waitFor(
      async () => (seen = await c.endpoint.getStats(app, ep)).success === 1,
      () => `a success; there was ${JSON.stringify(seen)}`,
    );
    assert.deepEqual(seen, { success: 1, pending: 0, sending: 0, fail: 1, canceled: 0 });
    // Now is within the default, and it is within a range of its own. Counters are kept by the hour.
    assert.deepEqual(await c.endpoint.getStats(app, ep, { since: hoursAgo(2), until: new Date() }), seen);
    assert.deepEqual((await c.endpoint.getStats(app, ep, { since: hoursAgo(50), until: hoursAgo(48) })).success, 0);
  });

  it("count what waits, and what was canceled", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500], options: quick(2, 3600) });
    await t.send(app);
    await hook.one();
    await waitFor(async () => (await t.svix.endpoint.getStats(app, ep)).sending === 1, "one that is to be tried again");
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    await t.send(app);
    await t.send(app);
    const held = await t.svix.endpoint.getStats(app, ep);
    assert.deepEqual([held.pending, held.sending, held.fail], [2, 1, 1]);
    await t.own("POST", `/app/${app}/endpoint/${ep}/cancel-msgs`, {}, 204);
    await waitFor(async () => (await t.svix.endpoint.getStats(app, ep)).canceled === 3, "three that are canceled");
    const after = await t.svix.endpoint.getStats(app, ep);
    assert.deepEqual([after.pending, after.sending], [0, 0]);
  });

  it("refuse ranges that end too late, or are too long", async () => {
    const { app, ep } = await t.customer();
    await refused(t.svix.endpoint.getStats(app, ep, { until: inHours(1) }), 400, "invalid_range");
    await refused(t.svix.endpoint.getStats(app, ep, { since: hoursAgo(24 * 29) }), 400, "invalid_range");
    await refused(t.svix.endpoint.getStats(app, "nobody"), 404);
    await t.refusals([["no time", "GET", `/app/${app}/endpoint/${ep}/stats?since=soon`, {}, ["query.since"]]]);
  });
});

// Usage of all applications, as tasks (webhooks-api 9.2).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, hoursAgo, quick, refused, world } from "./harness.mjs";

describe("statistics", () => {
  const t = world();

  both(t, "count the attempts of each application", async (c) => {
    const one = await t.customer({ answers: [500, 200], options: quick(2) });
    const two = await t.customer();
    const sent = await t.send(one.app);
    await t.waitAttempts(one.app, sent.id, 2);
    const other = await t.send(two.app);
    await t.waitAttempts(two.app, other.id, 1);
    const range = { since: hoursAgo(1), until: new Date() };
    const asked = await c.statistics.aggregateAppStats({ ...range, appIds: [one.app, "no-such", two.app] });
    assert.deepEqual(asked.unresolvedAppIds, ["no-such"]);
    assert.equal(asked.task, "application.stats");
    const { data } = await t.waitTask(asked.id);
    assert.deepEqual(
      data.appStats.toSorted((a, b) => (a.appId < b.appId ? -1 : 1)),
      [
        { appId: one.app, appUid: null, messageDestinations: 2 },
        { appId: two.app, appUid: null, messageDestinations: 1 },
      ].toSorted((a, b) => (a.appId < b.appId ? -1 : 1)),
    );
    const all = await t.waitTask((await c.statistics.aggregateAppStats(range)).id);
    assert.ok(all.data.appStats.some(({ appId }) => appId === one.app));
    await refused(c.statistics.aggregateAppStats({ ...range, appIds: ["no-such"] }), 422);
  });

  both(t, "list what each application subscribed to", async (c) => {
    const [a, b] = [await t.eventType(t.name("a")), await t.eventType(t.name("b"))];
    const { app, hook } = await t.customer({ eventTypes: [b, a] });
    await t.endpoint(app, hook, { eventTypes: [a] });
    const open = await t.customer();
    const asked = await c.statistics.aggregateEventTypes();
    assert.equal(asked.task, "event-type.aggregate");
    const { data } = await t.waitTask(asked.id);
    const of = (id) => data.event_types.find(({ appId }) => appId === id);
    assert.deepEqual([of(app).explicitlySubscribedEventTypes.toSorted(), of(app).hasCatchAllEndpoint], [[a, b].toSorted(), false]);
    assert.deepEqual([of(open.app).explicitlySubscribedEventTypes, of(open.app).hasCatchAllEndpoint], [[], true]);
  });
});

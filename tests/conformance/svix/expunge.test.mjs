// Payloads that must go (webhooks-api 6.3, 6.5, 7.1).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, CANCELED, ID, quick, refused, waitFor, world } from "./harness.mjs";

describe("expunged content", () => {
  const t = world();

  both(t, "of a message is gone, and what waited is canceled", async (c) => {
    const { app, ep, hook } = await t.customer({ disabled: true });
    const { id } = await t.send(app, "x", { secret: "card number" }, { eventId: t.name("event") });
    await c.message.expungeContent(app, id);
    assert.deepEqual((await c.message.get(app, id, { withContent: true })).payload, { expired: true });
    await t.waitStatus(app, id, ep, CANCELED);
    await c.message.expungeContent(app, id); // again
    const raw = await t.raw("GET", `/api/v1/app/${app}/msg/${id}/raw`);
    assert.equal(raw.status, 404);
    await c.endpoint.patch(app, ep, { disabled: false });
    await refused(c.messageAttempt.resend(app, id, ep), 400, "missing_payload");
    await t.settle();
    assert.equal(hook.requests.length, 0);
    const job = await t.raw("GET", `/api/v1/jobs/${id}.${ep}`);
    assert.match(job.text, /payload_expunged/);
    assert.doesNotMatch(job.text, /card number/);
    await refused(c.message.expungeContent(app, "nobody"), 404);
  });

  it("of several messages is told one by one", async () => {
    const app = await t.app();
    const eventId = t.name("event");
    const [one, two] = [await t.send(app), await t.send(app, "x", {}, { eventId })];
    const { results } = await t.svix.message.bulkExpungeContent(app, { ids: [one.id, eventId, "no-such"] });
    assert.deepEqual(results, { [one.id]: "expunged", [eventId]: "expunged", "no-such": "not-found" });
    assert.deepEqual((await t.svix.message.get(app, two.id, { withContent: true })).payload, { expired: true });
    const many = { body: { ids: Array.from({ length: 1001 }, (_, i) => `m${i}`) } };
    await t.refusals([["too many", "POST", `/app/${app}/msg/bulk-expunge`, many, ["body.ids"]]]);
  });

  both(t, "of all messages of an application is a task", async (c) => {
    const app = await t.app();
    const sent = [];
    for (let i = 0; i < 5; i += 1) sent.push((await t.send(app, "x", { i })).id);
    const task = await c.message.expungeAllContents(app);
    assert.match(task.id, ID.qtask);
    assert.equal(task.task, "application.purge_content");
    const done = await t.waitTask(task.id);
    assert.equal(done.data.messagesPurged, 5);
    for (const id of sent) assert.deepEqual((await c.message.get(app, id, { withContent: true })).payload, { expired: true });
    const after = await t.send(app, "x", { later: true });
    assert.deepEqual((await c.message.get(app, after.id, { withContent: true })).payload, { later: true });
  });

  both(t, "of an attempt is what was answered", async (c) => {
    const { app, hook } = await t.customer({ answers: [{ status: 500, body: "stack trace with secrets" }], options: quick(1) });
    const { id } = await t.send(app);
    await hook.one();
    const [attempt] = await t.waitAttempts(app, id, 1);
    assert.equal(attempt.response, "stack trace with secrets");
    await c.messageAttempt.expungeContent(app, id, attempt.id);
    await waitFor(async () => (await c.messageAttempt.get(app, id, attempt.id)).response === "EXPUNGED", "it to be gone");
  });
});

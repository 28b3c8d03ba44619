// Background tasks (webhooks-api 9.1).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, hoursAgo, ID, pages, refused, world } from "./harness.mjs";

describe("background tasks", () => {
  const t = world();

  both(t, "are listed newest first, by what they are", async (c) => {
    const { app, ep } = await t.customer();
    const ids = [];
    for (const call of ["recover", "replayMissing", "bulkReplay"]) ids.unshift((await t.svix.endpoint[call](app, ep, { since: hoursAgo(1) })).id);
    ids.unshift((await t.svix.message.expungeAllContents(app)).id);
    for (const id of ids) {
      const task = await t.waitTask(id);
      assert.match(task.id, ID.qtask);
      assertRecent(task.updatedAt);
      assert.equal(typeof task.data, "object");
    }
    const mine = (all) => all.filter((id) => ids.includes(id));
    assert.deepEqual(mine(await pages((page) => c.backgroundTask.list(page), 3)), ids);
    assert.deepEqual(mine(await pages((page) => c.backgroundTask.list({ ...page, order: "ascending" }), 3)), ids.toReversed());
    const found = async (more) => mine((await c.backgroundTask.list({ limit: 250, ...more })).data.map(({ id }) => id));
    assert.deepEqual(await found({ task: "endpoint.recover" }), [ids[3]]);
    assert.deepEqual(await found({ task: "application.purge_content" }), [ids[0]]);
    assert.deepEqual(await found({ status: "finished" }), ids);
    assert.deepEqual(await found({ status: "running" }), []);
  });

  it("outlive kill -9", async () => {
    const { app, ep } = await t.customer();
    const { id } = await t.svix.endpoint.recover(app, ep, { since: hoursAgo(1) });
    const before = await t.waitTask(id);
    await t.server.restart();
    assert.deepEqual(await t.svix.backgroundTask.get(id), before);
  });

  it("are refused where they make no sense", async () => {
    await refused(t.svix.backgroundTask.get(`qtask_${"0".repeat(27)}`), 404, "not_found");
    await refused(t.svix.backgroundTask.get("nonsense"), 404);
    await t.refusals([
      ["a status", "GET", "/background-task?status=odd", {}, ["query.status"]],
      ["a task", "GET", "/background-task?task=odd", {}, ["query.task"]],
      ["an order", "GET", "/background-task?order=odd", {}, ["query.order"]],
    ]);
  });
});

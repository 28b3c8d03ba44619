// kill -9: queues, groups, schedules, limits and callbacks are as they were.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { A_MINUTE, refused, waitFor, world } from "./harness.mjs";

describe("objects over a restart", () => {
  const t = world();

  it("are the same as before, and those that were deleted stay so", async () => {
    const queue = t.client.queue({ queueName: "kept" });
    await queue.upsert({ parallelism: 4, paused: true });
    await t.client.queue({ queueName: "gone" }).upsert({});
    await t.client.queue({ queueName: "gone" }).delete();
    await t.client.urlGroups.addEndpoints({
      name: "kept",
      endpoints: [{ url: "http://127.0.0.1/a", name: "a" }, { url: "http://127.0.0.1/b" }],
    });
    await t.client.urlGroups.addEndpoints({ name: "gone", endpoints: [{ url: "http://127.0.0.1/a" }] });
    await t.client.urlGroups.delete("gone");
    const destination = `${t.receiver.url}/never`;
    await t.client.schedules.create({
      destination,
      cron: "CRON_TZ=Europe/Berlin 0 0 1 1 *",
      scheduleId: "kept",
      body: "b",
      label: "l",
      retries: 4,
    });
    await t.client.schedules.pause({ schedule: "kept" });
    await t.client.schedules.create({ destination, cron: "0 0 1 1 *", scheduleId: "gone" });
    await t.client.schedules.delete("gone");
    await t.client.flowControl.pin("kept", { parallelism: 2, rate: 5, period: 60 });
    await t.client.flowControl.pause("kept");
    const all = async () => [
      await queue.get(),
      await t.client.urlGroups.list(),
      await t.client.schedules.list(),
      await t.client.queue().list(),
      await t.client.flowControl.get("kept"),
    ];
    const before = await all();

    await t.server.restart();

    assert.deepEqual(await all(), before);
    await refused(t.client.queue({ queueName: "gone" }).get(), 404);
    await refused(t.client.urlGroups.get("gone"), 404);
    await refused(t.client.schedules.get("gone"), 404);
  });

  it("hold messages back as before", async () => {
    const [queued, limited] = [t.hook(), t.hook()];
    const queue = t.client.queue({ queueName: "holding" });
    await queue.upsert({ paused: true });
    await t.client.flowControl.pause("holding");
    for (let i = 0; i < 3; i += 1) await queue.enqueue({ url: queued.url, body: `${i}` });
    await t.client.publish({ url: limited.url, body: "x", flowControl: { key: "holding", parallelism: 1 } });

    await t.server.restart();
    await t.settle();

    assert.equal(queued.requests.length + limited.requests.length, 0);
    assert.equal((await queue.get()).lag, 3);
    await queue.resume();
    await t.client.flowControl.resume("holding");
    await queued.wait(3);
    await limited.one();
    assert.deepEqual(queued.bodies, ["0", "1", "2"]);
  });

  it("send a callback that was owed", async () => {
    const hook = t.hook();
    const callback = t.hook().hold();
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", callback: callback.url });
    await callback.one();

    await t.server.restart();
    callback.release();

    await waitFor(() => callback.requests.length >= 2, "the callback again");
    for (const request of callback.requests) assert.equal(JSON.parse(request.text).sourceMessageId, messageId);
    assert.equal(hook.requests.length, 1);
  });

  it("fire a schedule that was made before", async () => {
    const hook = t.hook();
    const { scheduleId } = await t.client.schedules.create({ destination: hook.url, cron: "* * * * *", body: "x" });

    await t.server.restart();

    assert.equal((await hook.one(A_MINUTE)).headers["upstash-schedule-id"], scheduleId);
  });

  it("cancel in one stroke, and it stays so", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => t.waiting({ label: "stroke" })));
    assert.deepEqual(await t.client.messages.cancel({ filter: { label: "stroke" } }), { cancelled: 5 });

    await t.server.restart();

    assert.deepEqual(await t.client.messages.cancel(ids), { cancelled: 0 });
    for (const id of ids) await t.waitStates(id, "CREATED", "CANCEL_REQUESTED", "CANCELED");
  });
});

// kill -9 in the middle: what was accepted is delivered, what was known is known.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAIL, quick, SUCCESS, verified, waitFor, world } from "./harness.mjs";

describe("restart in the middle", () => {
  const t = world();

  it("delivers what was accepted and not delivered", async () => {
    const { app, ep, hook } = await t.customer();
    hook.hold();
    const ids = [];
    for (let n = 0; n < 10; n += 1) ids.push((await t.send(app, "x", { n })).id);
    await t.server.restart();
    hook.release();
    for (const id of ids) await t.waitStatus(app, id, ep, SUCCESS);
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    for (const request of hook.requests) verified(request, key);
    assert.deepEqual(new Set(hook.requests.map(({ headers }) => headers["svix-id"])), new Set(ids));
  });

  it("keeps everything that was answered", async () => {
    const type = await t.eventType(t.name("type"), { schemas: { 1: { type: "object" } }, groupName: "g" });
    const app = await t.app({ uid: t.name("uid"), throttleRate: 50, metadata: { a: "b" } });
    const ep = (await t.endpoint(app, "http://127.0.0.1:9/", { uid: "e", eventTypes: [type], channels: ["c"], disabled: true, headers: { "X-A": "1" }, metadata: { k: "v" } })).id;
    await t.svix.endpoint.rotateSecret(app, ep);
    await t.options(app, ep, { timeout: 7, order: "channel" });
    const { id: msg } = await t.send(app, type, { a: 1 }, { channels: ["c"], tags: ["t"], eventId: "ev" });
    const integration = await t.svix.integration.create(app, { name: "i" });
    const operational = await t.svix.operationalWebhook.endpoint.create({ url: "http://127.0.0.1:9/", disabled: true });
    const look = async () => [
      await t.svix.application.get(app),
      await t.svix.endpoint.get(app, "e"),
      await t.svix.endpoint.getSecret(app, ep),
      await t.svix.endpoint.getHeaders(app, ep),
      await t.svix.eventType.get(type),
      await t.svix.message.get(app, "ev", { withContent: true }),
      await t.svix.messageAttempt.listAttemptedDestinations(app, msg),
      await t.svix.integration.get(app, integration.id),
      await t.svix.operationalWebhook.endpoint.get(operational.id),
      await t.own("GET", `/webhooks/app/${app}/endpoint/${ep}/delivery`),
      await t.own("GET", "/webhooks/settings"),
    ];
    const before = await look();
    await t.server.restart();
    assert.deepEqual(await look(), before);
  });

  it("goes on with retries where they were", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: quick(3, 1.5) });
    const { id } = await t.send(app);
    await t.waitAttempts(app, id, 1);
    await t.server.restart();
    await t.waitStatus(app, id, ep, SUCCESS);
    const attempts = hook.requests.map(({ headers }) => headers["hikyaku-attempt"]);
    assert.equal(attempts[0], "1");
    // One, unless the kill came so late that it cut off the retry.
    assert.ok(attempts.length === 2 || attempts.length === 3, `${attempts}`);
    for (const one of attempts.slice(1)) assert.equal(one, "2");
  });

  it("keeps what was given up, and what was tried", async () => {
    const { app, ep } = await t.customer({ answers: [{ status: 500, body: "broken" }], options: quick(2) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, FAIL);
    const before = await t.attempts(app, id);
    assert.equal(before.length, 2);
    await t.server.restart();
    assert.deepEqual(await t.attempts(app, id), before);
    assert.equal((await t.delivery(app, id, ep)).status, FAIL);
  });

  it("loses no message that was acknowledged while clients go on publishing", async () => {
    const app = await t.app();
    const [all, some] = [t.hook(), t.hook()];
    await t.endpoint(app, all);
    await t.endpoint(app, some, { channels: ["even"] });
    // The client's own retries carry it over the time in which there is no server.
    const client = t.connect(undefined, { retryScheduleInMs: Array.from({ length: 2000 }, () => 50) });
    const acknowledged = new Map();
    let stop = false;
    const publishers = Array.from({ length: 8 }, async (_, who) => {
      for (let i = 0; !stop; i += 1) {
        const eventId = `${who}-${i}`;
        const message = { eventType: "x", payload: { eventId }, eventId, channels: [i % 2 ? "odd" : "even"] };
        acknowledged.set((await client.message.create(app, message, { idempotencyKey: eventId })).id, eventId);
      }
    });
    for (let round = 1; round <= 3; round += 1) {
      const enough = acknowledged.size + 40;
      await waitFor(() => acknowledged.size >= enough, () => `round ${round}: ${enough}; there are ${acknowledged.size}`);
      await t.server.restart();
    }
    stop = true;
    await Promise.all(publishers);

    const arrived = (hook) => new Map(hook.requests.map(({ headers, text }) => [headers["svix-id"], JSON.parse(text).eventId]));
    const wanted = { all: [...acknowledged], some: [...acknowledged].filter(([, eventId]) => Number(eventId.split("-")[1]) % 2 === 0) };
    for (const [hook, expected] of [
      [all, wanted.all],
      [some, wanted.some],
    ]) {
      await waitFor(
        () => arrived(hook).size >= expected.length,
        () => `${expected.length} messages; ${arrived(hook).size} came`,
      );
      // Exactly the endpoints that matched, and one message for each key.
      assert.deepEqual(arrived(hook), new Map([...arrived(hook)].filter(([id]) => acknowledged.has(id))));
      for (const [id, eventId] of expected) assert.equal(arrived(hook).get(id), eventId);
    }
    assert.equal(new Set(acknowledged.values()).size, acknowledged.size);
  });
});

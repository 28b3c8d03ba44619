// Idempotency-Key on every POST (webhooks-api 1.6).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, refused, world } from "./harness.mjs";

describe("idempotency keys", () => {
  const t = world();
  const post = (target, body, key) =>
    t.raw("POST", `/api/v1${target}`, { body, headers: key === undefined ? {} : { "Idempotency-Key": key } });

  both(t, "make a call once, however often it is asked for", async (c) => {
    const { app, hook } = await t.customer();
    const idempotencyKey = t.name("key");
    const message = { eventType: "x", payload: { n: 1 } };
    const first = await c.message.create(app, message, { idempotencyKey });
    const again = await c.message.create(app, message, { idempotencyKey });
    assert.deepEqual(again, first);
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  both(t, "are taken by every POST", async (c) => {
    const once = async (call) => assert.deepEqual(await call({ idempotencyKey: "a" }), await call({ idempotencyKey: "a" }));
    const suffix = c.old ? "old" : "new";
    const app = await t.app();
    const own = { idempotencyKey: `a-${suffix}` };
    await once(() => c.application.create({ name: "x" }, own));
    await once(() => c.eventType.create({ name: `once.${suffix}`, description: "" }, own));
    await once((options) => c.endpoint.create(app, { url: "http://127.0.0.1:9/" }, options));
    await once((options) => c.integration.create(app, { name: "x" }, options));
    await once((options) => c.authentication.appPortalAccess(app, {}, options));
    assert.equal((await c.endpoint.list(app)).data.length, 1);
    assert.equal((await c.integration.list(app)).data.length, 1);
  });

  it("say so when they answer again", async () => {
    const key = t.name("key");
    const first = await post("/app", { name: "x" }, key);
    const again = await post("/app", { name: "x" }, key);
    assert.deepEqual([again.status, again.text, again.headers["idempotency-replayed"]], [201, first.text, "true"]);
    assert.equal(first.headers["idempotency-replayed"], undefined);
  });

  it("belong to one body, one path and one query", async () => {
    const key = t.name("key");
    await post("/app", { name: "x" }, key);
    const other = await post("/app", { name: "y" }, key);
    assert.deepEqual([other.status, other.json().code], [409, "idempotency_key_reuse"]);
    // The raw bytes count.
    assert.equal((await post("/app", '{"name":  "x"}', key)).status, 409);
    assert.equal((await post("/app?get_if_exists=true", { name: "y" }, key)).status, 201);
    const app = await t.app();
    assert.equal((await post(`/app/${app}/integration`, { name: "x" }, key)).status, 201);
  });

  it("belong to one token", async () => {
    const app = await t.app();
    const [one, two] = [await t.svix.authentication.appPortalAccess(app), await t.svix.authentication.appPortalAccess(app)];
    const create = (token, url) => t.connect(token).endpoint.create(app, { url }, { idempotencyKey: "shared" });
    const first = await create(one.token, "http://127.0.0.1:9/1");
    const second = await create(two.token, "http://127.0.0.1:9/2");
    assert.notEqual(first.id, second.id);
  });

  it("keep no refusals", async () => {
    const key = t.name("key");
    assert.equal((await post("/app", { name: "" }, key)).status, 422);
    assert.equal((await post("/app", { name: "x" }, key)).status, 201);
  });

  it("that are used at once have one effect", async () => {
    const { app, hook } = await t.customer();
    const key = t.name("key");
    const calls = Array.from({ length: 16 }, () => post(`/app/${app}/msg`, { eventType: "x", payload: {} }, key));
    const answers = await Promise.all(calls);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1);
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  it("that the client makes guard its own repetition", async () => {
    const app = await t.app();
    const first = await post(`/app/${app}/msg`, { eventType: "x", payload: {} }, "auto_7b6d0f5e-0000-4000-8000-000000000000");
    const again = await post(`/app/${app}/msg`, { eventType: "x", payload: {} }, "auto_7b6d0f5e-0000-4000-8000-000000000000");
    assert.equal(again.json().id, first.json().id);
  });

  it("of an unknown form are refused", async () => {
    for (const key of ["", "a b\u00e9", "x".repeat(256)]) {
      const answer = await post("/app", { name: "x" }, key);
      assert.equal(answer.status, 422, key);
      assert.deepEqual(answer.json().detail[0].loc, ["header", "idempotency-key"]);
    }
  });

  it("survive kill -9", async () => {
    const { app, hook } = await t.customer();
    const idempotencyKey = t.name("key");
    const eventId = t.name("event");
    const first = await t.svix.message.create(app, { eventType: "x", payload: {}, eventId }, { idempotencyKey });
    await hook.one();
    await t.server.restart();
    const again = await t.svix.message.create(app, { eventType: "x", payload: {}, eventId }, { idempotencyKey });
    assert.equal(again.id, first.id);
    await refused(t.send(app, "x", {}, { eventId }), 409);
    assert.equal((await t.svix.message.list(app)).data.length, 1);
  });
});

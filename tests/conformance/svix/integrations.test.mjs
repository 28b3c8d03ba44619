// Integrations of an application, and their keys (webhooks-api 9.5).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, ID, invalid, pages, refused, world } from "./harness.mjs";

describe("integrations", () => {
  const t = world();

  both(t, "are managed", async (c) => {
    const app = await t.app();
    const made = await c.integration.create(app, { name: "crm", featureFlags: ["beta"] });
    assert.match(made.id, ID.integ);
    assert.deepEqual([made.name, made.featureFlags], ["crm", ["beta"]]);
    assertRecent(made.createdAt);
    assert.deepEqual(await c.integration.get(app, made.id), made);
    assert.equal((await c.integration.update(app, made.id, { name: "erp" })).name, "erp");
    const other = await c.integration.create(app, { name: "second" });
    assert.deepEqual(await pages((page) => c.integration.list(app, page), 1), [other.id, made.id]); // newest first
    await c.integration.delete(app, made.id);
    await refused(c.integration.get(app, made.id), 404, "not_found");
    await invalid(c.integration.create(app, { name: "" }), "body.name");
    await refused(c.integration.create("nobody", { name: "x" }), 404);
  });

  both(t, "have a key that manages the application", async (c) => {
    const app = await t.app();
    const { id } = await c.integration.create(app, { name: "crm" });
    const { key } = await c.integration.rotateKey(app, id);
    assert.match(key, /^integsk_[0-9A-Za-z]{32}$/);
    const theirs = t.connect(key);
    const ep = await theirs.endpoint.create(app, { url: "http://127.0.0.1:9/" });
    assert.match((await theirs.endpoint.getSecret(app, ep.id)).key, /^whsec_/);
    await refused(theirs.message.create(app, { eventType: "x", payload: {} }), 403);
    await refused(theirs.endpoint.list(await t.app()), 404);
    // The former key dies at once.
    const second = await c.integration.rotateKey(app, id);
    await refused(theirs.endpoint.list(app), 401);
    assert.equal((await t.connect(second.key).endpoint.list(app)).data.length, 1);
    // Only a hash is kept.
    if (c.old) await refused(c.integration.getKey(app, id), 403, "insufficient access");
    await c.integration.delete(app, id);
    await refused(t.connect(second.key).endpoint.list(app), 401);
  });
});

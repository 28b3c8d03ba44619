// The environment as a document (webhooks-api 9.4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, refused, world } from "./harness.mjs";

describe("the environment", () => {
  const t = world();

  both(t, "goes out and comes back in", async (c) => {
    const name = t.name("env");
    await c.eventType.create({ name, description: "one", schemas: { 1: { type: "object" } }, groupName: "g" });
    const out = await c.environment.export();
    assert.equal(out.version, 1);
    assertRecent(out.createdAt);
    assert.deepEqual(out.connectors, []);
    const mine = out.eventTypes.find((one) => one.name === name);
    assert.deepEqual([mine.description, mine.groupName, mine.schemas], ["one", "g", { 1: { type: "object" } }]);
    await c.eventType.delete(name, { expunge: true });
    await c.environment.import({ eventTypes: [mine, { name: `${name}.more`, description: "two" }] });
    assert.equal((await c.eventType.get(name)).description, "one");
    // It deletes nothing, and updates what is there.
    await c.environment.import({ eventTypes: [{ name: `${name}.more`, description: "three" }] });
    assert.equal((await c.eventType.get(`${name}.more`)).description, "three");
    assert.equal((await c.eventType.get(name)).description, "one");
  });

  it("comes in as a whole or not at all", async () => {
    const name = t.name("half");
    const eventTypes = [{ name, description: "" }, { name: "not a name", description: "" }];
    await refused(t.svix.environment.import({ eventTypes }), 422);
    await refused(t.svix.eventType.get(name), 404);
    const answer = await t.raw("POST", "/api/v1/environment/import", { body: { eventTypes: [], connectors: [{ name: "x" }] } });
    assert.equal(answer.status, 501);
    assert.equal((await t.raw("POST", "/api/v1/environment/import", { body: {} })).status, 204);
  });
});

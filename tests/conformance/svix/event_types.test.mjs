// Event types (webhooks-api 4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, pages, refused, invalid, world } from "./harness.mjs";

const SCHEMAS = { 1: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } };

describe("event types", () => {
  const t = world();

  both(t, "are made, found and replaced", async (c) => {
    const name = t.name("user.created");
    const made = await c.eventType.create({ name, description: "a user", groupName: "user", featureFlags: ["beta"], schemas: SCHEMAS });
    assert.deepEqual(
      [made.name, made.description, made.groupName, made.featureFlags, made.featureFlag, made.archived, made.deprecated, made.schemas],
      [name, "a user", "user", ["beta"], "beta", false, false, SCHEMAS],
    );
    assertRecent(made.createdAt);
    assertRecent(made.updatedAt);
    assert.deepEqual(await c.eventType.get(name), made);
    await refused(c.eventType.create({ name, description: "again" }), 409, "event_type_exists");
    const replaced = await c.eventType.upsert(name, { description: "other" });
    assert.deepEqual(
      [replaced.description, replaced.groupName ?? null, replaced.featureFlags ?? null, replaced.schemas ?? null],
      ["other", null, null, null],
    );
  });

  both(t, "are made by PUT under its name, and patched", async (c) => {
    const name = t.name("put");
    const made = await c.eventType.upsert(name, { description: "", deprecated: true, schemas: SCHEMAS });
    assert.deepEqual([made.name, made.deprecated], [name, true]);
    const patched = await c.eventType.patch(name, { description: "words" });
    assert.deepEqual([patched.description, patched.deprecated, patched.schemas], ["words", true, SCHEMAS]);
    assert.equal((await c.eventType.patch(name, { groupName: "g" })).groupName, "g");
    assert.equal((await c.eventType.patch(name, { groupName: null })).groupName ?? null, null);
    await refused(c.eventType.patch("nobody", { description: "x" }), 404);
  });

  it("PUT answers 201 and 200", async () => {
    const name = t.name("status");
    await t.own("PUT", `/event-type/${name}`, { description: "" }, 201);
    await t.own("PUT", `/event-type/${name}`, { description: "" }, 200);
  });

  it("take the older single feature flag", async () => {
    const name = t.name("flag");
    const made = await t.own("POST", "/event-type", { name, description: "", featureFlag: "old" }, 201);
    assert.deepEqual([made.featureFlag, made.featureFlags], ["old", ["old"]]);
  });

  both(t, "are archived by DELETE and come back by POST", async (c) => {
    const name = t.name("archive");
    await c.eventType.create({ name, description: "before", schemas: SCHEMAS });
    await c.eventType.delete(name);
    assert.equal((await c.eventType.get(name)).archived, true);
    const again = await c.eventType.create({ name, description: "after" });
    // 4.2: unarchived and overwritten.
    assert.deepEqual([again.archived, again.description, again.schemas ?? null], [false, "after", null]);
    await c.eventType.delete(name, { expunge: true });
    await refused(c.eventType.get(name), 404, "not_found");
    await refused(c.eventType.delete(name), 404, "not_found");
  });

  it("stay a filter when archived, but are no new one", async () => {
    const [kept, gone] = [await t.eventType(t.name("kept")), await t.eventType(t.name("gone"))];
    const { app, hook, ep } = await t.customer({ eventTypes: [gone] });
    await t.svix.eventType.delete(gone);
    assert.deepEqual((await t.svix.endpoint.get(app, ep)).eventTypes, [gone]);
    await t.send(app, gone, { still: true });
    assert.equal((await hook.one()).text, '{"still":true}');
    await invalid(t.endpoint(app, hook, { eventTypes: [kept, gone] }), "body.eventTypes");
  });

  it("name what does not exist", async () => {
    const { app, hook } = await t.customer();
    const { body } = await refused(t.endpoint(app, hook, { eventTypes: ["no.such", "nor.this"] }), 422);
    assert.deepEqual(body.detail[0].loc, ["body", "eventTypes"]);
    assert.equal(body.detail[0].msg, "The following event types don't exist: no.such, nor.this");
  });

  it("need not be known to be sent", async () => {
    const { app, hook } = await t.customer();
    await t.send(app, "never.heard.of", { a: 1 });
    assert.equal((await hook.one()).text, '{"a":1}');
  });

  it("are hidden from tokens that lack their flags", async () => {
    const [open, beta] = [t.name("open"), t.name("beta")];
    await t.svix.eventType.create({ name: open, description: "" });
    await t.svix.eventType.create({ name: beta, description: "", featureFlags: ["beta", "gamma"] });
    const app = await t.app();
    const names = async (flags) => {
      const { token } = await t.svix.authentication.appPortalAccess(app, { featureFlags: flags });
      const theirs = t.connect(token);
      if (flags.length === 0) await refused(theirs.eventType.get(beta), 404);
      else assert.equal((await theirs.eventType.get(beta)).name, beta);
      const { data } = await theirs.eventType.list({ limit: 250 });
      return data.map(({ name }) => name).filter((name) => [open, beta].includes(name)).sort();
    };
    assert.deepEqual(await names([]), [open]);
    assert.deepEqual(await names(["gamma"]), [beta, open].sort());
  });

  it("refuse bad fields", async () => {
    await t.refusedBodies("POST", "/event-type", [
      [{}, "body.name", "body.description"],
      [{ name: "a b", description: "" }, "body.name"],
      [{ name: "", description: "" }, "body.name"],
      [{ name: "x".repeat(257), description: "" }, "body.name"],
      [{ name: "a/b", description: "" }, "body.name"],
      [{ name: "x", description: "a\u0001" }, "body.description"],
      [{ name: "x", description: null }, "body.description"],
      [{ name: "x", description: "", archived: 1 }, "body.archived"],
      [{ name: "x", description: "", groupName: "a b" }, "body.groupName"],
      [{ name: "x", description: "", featureFlags: [] }, "body.featureFlags"],
      [{ name: "x", description: "", schemas: [] }, "body.schemas"],
    ]);
    await t.refusals(
      [{ 0: {} }, { v1: {} }, { 1: "x" }, { 1: { a: "x".repeat(256 * 1024) } }, { "01": {} }].map((schemas) => [
        JSON.stringify(schemas).slice(0, 40),
        "POST",
        "/event-type",
        { body: { name: "x", description: "", schemas } },
        422,
      ]),
    );
  });
});

describe("lists of event types", () => {
  const t = world();

  both(t, "go by name, without their content unless asked", async (c) => {
    const names = ["b", "a", "D", "c.d", "c-d"].map((one) => `${c.old ? "old" : "new"}.${one}`);
    for (const name of names) await c.eventType.create({ name, description: "", schemas: SCHEMAS });
    await c.eventType.delete(names[0]);
    const mine = (all) => all.filter((name) => names.includes(name));
    const sorted = names.slice(1).sort();
    const list = (more) => (page) => c.eventType.list({ ...page, ...more });
    const of = ({ name }) => name;
    assert.deepEqual(mine(await pages(list(), 2, of)), sorted);
    assert.deepEqual(mine(await pages(list({ order: "descending" }), 3, of)), sorted.toReversed());
    assert.deepEqual(mine(await pages(list({ includeArchived: true }), 50, of)), [...names].sort());
    const [bare] = (await c.eventType.list({ limit: 1, withContent: false })).data;
    assert.equal(bare.schemas ?? null, null);
    const [whole] = (await c.eventType.list({ limit: 1, withContent: true })).data;
    assert.deepEqual(whole.schemas, SCHEMAS);
  });
});

describe("a closed catalogue", () => {
  const t = world();

  it("refuses to send what it does not know", async () => {
    const { app, hook } = await t.customer();
    await t.own("PATCH", "/webhooks/settings", { eventTypes: "known" }, 200);
    await invalid(t.send(app, "unknown.type"), "body.eventType");
    const archived = await t.eventType("archived.type");
    await t.svix.eventType.delete(archived);
    await invalid(t.send(app, archived), "body.eventType");
    await t.eventType("known.type");
    await t.send(app, "known.type");
    await hook.one();
    assert.equal(hook.requests.length, 1);
  });

  it("says that payloads are not checked against schemas here", async () => {
    for (const schemaCheck of ["warn", "refuse"]) {
      const answer = await t.raw("PATCH", "/api/v1/webhooks/settings", { body: { schemaCheck } });
      assert.deepEqual([answer.status, answer.json().code], [501, "not_available"], answer.text);
    }
    await t.own("PATCH", "/webhooks/settings", { schemaCheck: "off" }, 200);
  });
});

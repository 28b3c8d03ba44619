// Event types out of an OpenAPI document (webhooks-api 4.3).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, invalid, refused, world } from "./harness.mjs";

const operation = (more = {}) => ({
  post: {
    description: "what it is",
    tags: ["orders"],
    requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Order" } } } },
    ...more,
  },
});
const COMPONENTS = {
  schemas: {
    Order: { type: "object", properties: { line: { $ref: "#/components/schemas/Line" } } },
    Line: { type: "object", properties: { sku: { type: "string" } } },
  },
};
const INLINED = { type: "object", properties: { line: { type: "object", properties: { sku: { type: "string" } } } } };

describe("the import of OpenAPI", () => {
  const t = world();
  const document = (webhooks) => ({ openapi: "3.1.0", info: { title: "x", version: "1" }, webhooks, components: COMPONENTS });

  both(t, "makes an event type of each webhook", async (c) => {
    const [one, two] = [t.name("order.paid"), t.name("order.sent")];
    const spec = document({ [one]: operation(), [two]: operation({ description: undefined, summary: "short", deprecated: true }) });
    const planned = await c.eventType.importOpenapi({ spec, dryRun: true });
    assert.deepEqual(planned.data.modified.toSorted(), [one, two]);
    assert.deepEqual(planned.data.toModify.map(({ name }) => name).sort(), [one, two]);
    const first = planned.data.toModify.find(({ name }) => name === one);
    assert.deepEqual([first.description, first.groupName, first.deprecated, first.schemas], ["what it is", "orders", false, { 1: INLINED }]);
    await refused(c.eventType.get(one), 404);

    const done = await c.eventType.importOpenapi({ spec });
    assert.deepEqual(done.data.modified.toSorted(), [one, two]);
    const made = await c.eventType.get(one);
    assert.deepEqual([made.description, made.schemas, made.groupName], ["what it is", { 1: INLINED }, "orders"]);
    const other = await c.eventType.get(two);
    assert.deepEqual([other.description, other.deprecated], ["short", true]);
  });

  it("reads JSON and YAML as text", async () => {
    const [json, yaml] = [t.name("json"), t.name("yaml")];
    await t.svix.eventType.importOpenapi({ specRaw: JSON.stringify(document({ [json]: operation() })) });
    assert.equal((await t.svix.eventType.get(json)).description, "what it is");
    const specRaw = `openapi: 3.1.0
# a comment
info: {title: x, version: "1"}
webhooks:
  ${yaml}:
    post:
      description: |
        two
        lines
      tags: [billing]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                id: {type: integer}
                note: {type: string, maxLength: 10}
`;
    await t.svix.eventType.importOpenapi({ specRaw });
    const made = await t.svix.eventType.get(yaml);
    assert.equal(made.groupName, "billing");
    assert.deepEqual(made.schemas, {
      1: { type: "object", properties: { id: { type: "integer" }, note: { type: "string", maxLength: 10 } } },
    });
  });

  it("takes x-webhooks, and brings archived ones back", async () => {
    const name = await t.eventType(t.name("again"));
    await t.svix.eventType.delete(name);
    await t.svix.eventType.importOpenapi({ spec: { openapi: "3.0.0", "x-webhooks": { [name]: operation() }, components: COMPONENTS } });
    assert.equal((await t.svix.eventType.get(name)).archived, false);
  });

  it("archives all others if it replaces them", async () => {
    const [old, fresh] = [await t.eventType(t.name("old")), t.name("fresh")];
    await t.svix.eventType.importOpenapi({ spec: document({ [fresh]: operation() }), replaceAll: true });
    assert.equal((await t.svix.eventType.get(old)).archived, true);
    assert.equal((await t.svix.eventType.get(fresh)).archived, false);
  });

  it("answers in snake case on the wire", async () => {
    const spec = document({ [t.name("wire")]: operation() });
    const { data } = await t.own("POST", "/event-type/import/openapi", { spec, dryRun: true }, 200);
    assert.ok(Array.isArray(data.to_modify));
    assert.ok(Array.isArray(data.modified));
  });

  it("wants exactly one document, and one that ends", async () => {
    const good = document({ a: operation() });
    for (const body of [{}, { spec: good, specRaw: "{}" }, { spec: null, specRaw: null }])
      await refused(t.svix.eventType.importOpenapi(body), 400);
    const cycle = document({ a: operation() });
    cycle.components = { schemas: { Order: { type: "object", properties: { o: { $ref: "#/components/schemas/Order" } } } } };
    await refused(t.svix.eventType.importOpenapi({ spec: cycle }), 422);
    await refused(t.svix.eventType.importOpenapi({ specRaw: "webhooks: [" }), 422);
    const bomb = `a: &a [x, x]\n${Array.from({ length: 30 }, (_, i) => `a${i}: &b${i} [${i ? `*b${i - 1}, *b${i - 1}` : "*a, *a"}]`).join("\n")}`;
    await refused(t.svix.eventType.importOpenapi({ specRaw: bomb }), 422);
    await invalid(t.svix.eventType.importOpenapi({ spec: good, dryRun: "yes" }), "body.dryRun");
  });
});

// Examples out of the schemas of event types (webhooks-api 5.6).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, ID, refused, verified, world } from "./harness.mjs";

describe("examples", () => {
  const t = world();

  both(t, "are sent to one endpoint, whatever its filters", async (c) => {
    const type = await t.eventType(t.name("example"), {
      schemas: { 1: { example: { old: true } }, 2: { type: "object", examples: [{ n: 1 }, { n: 2 }] } },
    });
    const other = await t.eventType(t.name("other"));
    const { app, ep, hook } = await t.customer({ eventTypes: [other] });
    const beside = t.hook();
    await t.endpoint(app, beside);
    const sent = await c.endpoint.sendExample(app, ep, { eventType: type });
    assert.match(sent.id, ID.msg);
    assert.deepEqual([sent.eventType, sent.payload], [type, {}]);
    const request = await hook.one();
    assert.deepEqual(JSON.parse(request.text), { n: 1 });
    verified(request, (await c.endpoint.getSecret(app, ep)).key);
    await t.own("POST", `/app/${app}/endpoint/${ep}/send-example`, { eventType: type, exampleIndex: 1 }, 202);
    await t.own("POST", `/app/${app}/endpoint/${ep}/send-example`, { eventType: type, exampleIndex: 9 }, 202);
    await hook.wait(3);
    assert.deepEqual(
      hook.bodies.map((one) => JSON.parse(one).n),
      [1, 2, 1],
    );
    await t.settle();
    assert.equal(beside.requests.length, 0);
  });

  both(t, "include a ping that needs no event type", async (c) => {
    const { app, ep, hook } = await t.customer();
    await c.endpoint.sendExample(app, ep, { eventType: "svix.ping" });
    assert.deepEqual(JSON.parse((await hook.one()).text), { success: true });
  });

  it("are not there for every type", async () => {
    const { app, ep } = await t.customer();
    await refused(t.svix.endpoint.sendExample(app, ep, { eventType: "no.such" }), 404);
    const bare = await t.eventType(t.name("bare"), { schemas: { 1: { type: "object" } } });
    await refused(t.svix.endpoint.sendExample(app, ep, { eventType: bare }), 400, "invalid_scheme");
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    await refused(t.svix.endpoint.sendExample(app, ep, { eventType: "svix.ping" }), 400, "endpoint_disabled");
  });
});

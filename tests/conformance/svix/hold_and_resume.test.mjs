// Messages for an endpoint that is disabled or paused wait for it (webhooks-api 14.3, 14.4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, CANCELED, PENDING, quick, SUCCESS, waitFor, world } from "./harness.mjs";

describe("hold and resume", () => {
  const t = world();
  const own = (app, ep, verb, body) => t.own("POST", `/webhooks/app/${app}/endpoint/${ep}/${verb}`, body);

  both(t, "keeps what comes while an endpoint is disabled, and sends it afterwards", async (c) => {
    const { app, ep, hook } = await t.customer();
    await c.endpoint.patch(app, ep, { disabled: true });
    const ids = [];
    for (let n = 0; n < 5; n += 1) ids.push((await t.send(app, "x", { n })).id);
    await t.settle();
    assert.equal(hook.requests.length, 0);
    const state = await t.state(app, ep);
    assert.deepEqual([state.disabled, state.disabledReason, state.paused, state.held.messages], [true, "manual", false, 5]);
    assert.ok(state.held.bytes >= 5 * 7);
    assert.ok(state.gates.length > 0, JSON.stringify(state));
    for (const id of ids) assert.equal((await t.delivery(app, id, ep)).status, PENDING);
    await c.endpoint.patch(app, ep, { disabled: false });
    await hook.wait(5);
    for (const id of ids) await t.waitStatus(app, id, ep, SUCCESS);
    assert.deepEqual(hook.requests.map(({ headers }) => headers["svix-id"]), ids); // oldest first
    for (const { headers } of hook.requests) assert.equal(headers["hikyaku-attempt"], "1");
    assert.equal((await t.state(app, ep)).held.messages, 0);
  });

  it("keeps retries where they were", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: quick(3, 0.3) });
    const { id } = await t.send(app);
    await hook.one();
    await own(app, ep, "pause");
    await t.waitAttempts(app, id, 1);
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(hook.requests.length, 1);
    assert.deepEqual(await own(app, ep, "resume", { mode: "deliver" }), { released: 1 });
    // An overdue retry is due at once, and is the second attempt.
    const [, second] = await hook.wait(2);
    assert.equal(second.headers["hikyaku-attempt"], "2");
    await t.waitStatus(app, id, ep, SUCCESS);
  });

  it("may drop what was held", async () => {
    const { app, ep, hook } = await t.customer();
    await own(app, ep, "pause");
    assert.equal((await t.state(app, ep)).paused, true);
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push((await t.send(app)).id);
    assert.deepEqual(await own(app, ep, "resume", { mode: "skip" }), { canceled: 3 });
    for (const id of ids) await t.waitStatus(app, id, ep, CANCELED);
    await t.send(app);
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  it("needs both gates open", async () => {
    const { app, ep, hook } = await t.customer({ disabled: true });
    await own(app, ep, "pause");
    await t.send(app);
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await t.settle();
    assert.equal(hook.requests.length, 0);
    await own(app, ep, "resume", { mode: "deliver" });
    await hook.one();
  });

  it("pauses twice as once", async () => {
    const { app, ep } = await t.customer();
    for (let i = 0; i < 2; i += 1) assert.equal((await t.raw("POST", `/api/v1/webhooks/app/${app}/endpoint/${ep}/pause`)).status, 204);
    for (let i = 0; i < 2; i += 1) assert.deepEqual(await own(app, ep, "resume", { mode: "deliver" }), { released: 0 });
  });

  it("releases at the rate that is set", async () => {
    const { app, ep, hook } = await t.customer({ options: { resumeRate: 4 } });
    await own(app, ep, "pause");
    for (let n = 0; n < 8; n += 1) await t.send(app, "x", { n });
    await own(app, ep, "resume", { mode: "deliver" });
    await hook.wait(8);
    const span = hook.requests[7].at - hook.requests[0].at;
    assert.ok(span >= 1400, `${span}`); // 4 a second
  });

  it("drops the oldest, with its reason and an event, beyond the limit", async () => {
    const told = t.hook();
    await t.svix.operationalWebhook.endpoint.create({ url: told.url, eventTypes: ["endpoint.hold"] });
    const { app, ep, hook } = await t.customer({ options: { hold: { maxMessages: 3 } } });
    await own(app, ep, "pause");
    const ids = [];
    for (let n = 0; n < 5; n += 1) ids.push((await t.send(app, "x", { n })).id);
    for (const id of ids.slice(0, 2)) {
      await t.waitStatus(app, id, ep, CANCELED);
      assert.match((await t.raw("GET", `/api/v1/jobs/${id}.${ep}`)).text, /hold_overflow/);
    }
    const event = JSON.parse((await told.one()).text);
    assert.deepEqual([event.type, event.data.endpointId, event.data.reason], ["endpoint.hold", ep, "overflow"]);
    await own(app, ep, "resume", { mode: "deliver" });
    await hook.wait(3);
    assert.deepEqual(hook.bodies.map((one) => JSON.parse(one).n), [2, 3, 4]);
  });

  it("matches nothing where it is switched off", async () => {
    const { app, ep, hook } = await t.customer({ options: { hold: { enabled: false } } });
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    const { id } = await t.send(app);
    assert.deepEqual((await t.svix.messageAttempt.listAttemptedDestinations(app, id)).data, []);
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await t.settle();
    assert.equal(hook.requests.length, 0);
  });

  it("outlives kill -9", async () => {
    const { app, ep, hook } = await t.customer();
    await own(app, ep, "pause");
    const ids = [];
    for (let n = 0; n < 10; n += 1) ids.push((await t.send(app, "x", { n })).id);
    await t.server.restart();
    const state = await t.state(app, ep);
    assert.deepEqual([state.paused, state.held.messages], [true, 10]);
    await t.settle();
    assert.equal(hook.requests.length, 0);
    assert.deepEqual(await own(app, ep, "resume", { mode: "deliver" }), { released: 10 });
    await hook.wait(10);
    assert.deepEqual(hook.requests.map(({ headers }) => headers["svix-id"]), ids);
  });

  it("says in the job why something waits", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const { id } = await t.send(app);
    const job = await waitFor(() => t.own("GET", `/jobs/${id}.${ep}`), "the job");
    assert.match(JSON.stringify(job), /disabled/);
  });
});

// What our user is told about deliveries (webhooks-api 10).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, FAIL, hoursAgo, ID, quick, refused, SUCCESS, verified, waitFor, world } from "./harness.mjs";

const URL = "http://127.0.0.1:9/";

describe("operational endpoints", () => {
  const t = world();

  both(t, "are managed like others", async (c) => {
    const uid = t.name("uid");
    const types = ["endpoint.created", "message.attempt.exhausted"];
    const made = await c.operational.create({ url: URL, uid, description: "ops", metadata: { k: "v" }, ...c.filter(types) });
    assert.match(made.id, ID.ep);
    assert.deepEqual([made.url, made.uid, made.description, made[c.filterName], made.metadata], [URL, uid, "ops", types, { k: "v" }]);
    assert.deepEqual(await c.operational.get(uid), made);
    assert.ok((await c.operational.list({ limit: 250 })).data.some(({ id }) => id === made.id));
    const { key } = await c.operational.getSecret(made.id);
    assert.match(key, /^whsec_/);
    await c.operational.rotateSecret(made.id);
    assert.notEqual((await c.operational.getSecret(made.id)).key, key);
    await c.operational.setHeaders(made.id, { headers: { "X-A": "1", Authorization: "s" } });
    assert.deepEqual(await c.operational.getHeaders(made.id), { headers: { "X-A": "1" }, sensitive: ["Authorization"] });
    const replaced = await c.operational.upsert(made.id, { url: `${URL}2` });
    assert.deepEqual([replaced.id, replaced.url, replaced.description, replaced[c.filterName] ?? null], [made.id, `${URL}2`, "", null]);
    await c.operational.delete(made.id);
    await refused(c.operational.get(made.id), 404, "not_found");
    await refused(c.operational.delete(made.id), 404, "not_found");
  });

  it("filter on the events that there are", async () => {
    await refused(t.svix.operationalWebhook.endpoint.create({ url: URL, eventTypes: ["user.created"] }), 422);
    await refused(t.svix.operationalWebhook.endpoint.upsert("nobody", { url: URL }), 404); // UNSURE reading
  });
});

describe("operational events", () => {
  const t = world();
  let told;

  /** The events about this endpoint, in the order in which they came. */
  const about = (ep) => told.requests.map((one) => JSON.parse(one.text)).filter(({ data }) => data.endpointId === ep);
  const types = (ep) => about(ep).map(({ type }) => type);
  const waitType = (ep, type) => waitFor(() => about(ep).find((one) => one.type === type), () => `${type} of ${ep}; there were ${types(ep)}`);

  it("are signed messages of their own", async () => {
    told = t.hook();
    const { id } = await t.svix.operationalWebhook.endpoint.create({ url: told.url });
    const uid = t.name("customer");
    const { id: app } = await t.svix.application.create({ name: "x", uid });
    const ep = (await t.endpoint(app, URL, { uid: "theirs" })).id;
    const event = await waitType(ep, "endpoint.created");
    assert.deepEqual(event, { type: "endpoint.created", data: { appId: app, appUid: uid, endpointId: ep, endpointUid: "theirs" } });
    verified(told.requests[0], (await t.svix.operationalWebhook.endpoint.getSecret(id)).key);
  });

  it("tell of changes of endpoints", async () => {
    const { app, ep } = await t.customer();
    await waitType(ep, "endpoint.created");
    await t.svix.endpoint.patch(app, ep, { description: "x" });
    await waitFor(() => types(ep).filter((one) => one === "endpoint.updated").length === 1, "one update");
    await t.svix.endpoint.rotateSecret(app, ep);
    await t.svix.endpoint.setHeaders(app, ep, { headers: { "X-A": "1" } });
    await waitFor(() => types(ep).filter((one) => one === "endpoint.updated").length === 3, "three updates");
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    const disabled = await waitType(ep, "endpoint.disabled");
    assert.deepEqual([disabled.data.trigger, disabled.data.reason, disabled.data.failSince, disabled.data.appUid], ["manual", "manual", null, null]);
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await waitType(ep, "endpoint.enabled");
    await t.svix.endpoint.delete(app, ep);
    await waitType(ep, "endpoint.deleted");
  });

  it("tell of messages that fail, recover, or are given up", async () => {
    const { app, ep } = await t.customer({ answers: [500, 500, 500, 500, 500, 200], options: quick(10) });
    const { id } = await t.send(app, "x", {}, { eventId: t.name("event") });
    await t.waitStatus(app, id, ep, SUCCESS);
    await waitType(ep, "message.attempt.recovered");
    // Once, at the fourth failed attempt.
    assert.deepEqual(types(ep).filter((one) => one.startsWith("message.")), ["message.attempt.failing", "message.attempt.recovered"]);
    const failing = about(ep).find(({ type }) => type === "message.attempt.failing").data;
    assert.deepEqual([failing.appId, failing.msgId, failing.msgEventId !== null], [app, id, true]);
    assert.match(failing.lastAttempt.id, ID.atmpt);
    assert.equal(failing.lastAttempt.responseStatusCode, 500);
    const attempts = await t.waitAttempts(app, id, 6);
    assert.equal(attempts[3].id, failing.lastAttempt.id);

    const dead = await t.customer({ answers: [500], options: quick(2) });
    const sent = await t.send(dead.app);
    await t.waitStatus(dead.app, sent.id, dead.ep, FAIL);
    const exhausted = await waitType(dead.ep, "message.attempt.exhausted");
    assert.deepEqual([exhausted.data.msgId, exhausted.data.msgEventId], [sent.id, null]);
    assert.deepEqual(types(dead.ep).filter((one) => one.startsWith("message.")), ["message.attempt.exhausted"]);
  });

  it("tell of endpoints that are gone, or fail for too long", async () => {
    const gone = await t.customer({ answers: [410] });
    await t.send(gone.app);
    const event = await waitType(gone.ep, "endpoint.disabled");
    assert.deepEqual([event.data.trigger, event.data.reason], ["automatic", "gone"]);

    const failing = await t.customer({
      answers: [500],
      options: { ...quick(20), disable: { afterSeconds: 432000, minAttempts: 10, failures: 10, warnAt: [50, 70, 90] } },
    });
    await t.send(failing.app);
    const disabled = await waitType(failing.ep, "endpoint.disabled");
    assert.deepEqual([disabled.data.trigger, disabled.data.reason], ["automatic", "failing"]);
    assert.ok(new Date(disabled.data.failSince) <= new Date());
    const warned = about(failing.ep).filter(({ type }) => type === "endpoint.failing").map(({ data }) => data.percent);
    assert.deepEqual(warned, [50, 70, 90]);
    assert.equal((await t.svix.endpoint.get(failing.app, failing.ep)).disabled, true);
  });

  it("tell of tasks that ended", async () => {
    const { app, ep } = await t.customer();
    const { id } = await t.svix.endpoint.recover(app, ep, { since: hoursAgo(1) });
    const found = () => told.requests.map((one) => JSON.parse(one.text)).find(({ type, data }) => type === "background_task.finished" && data.taskId === id);
    const { data } = await waitFor(found, "the end of the task");
    assert.deepEqual([data.task, data.status], ["endpoint.recover", "finished"]);
  });

  it("never tell of themselves", async () => {
    const count = told.requests.length;
    const broken = t.hook(500);
    const made = await t.svix.operationalWebhook.endpoint.create({ url: broken.url });
    await t.customer(); // an event that fails there
    await broken.one();
    await t.settle();
    const later = told.requests.slice(count).map((one) => JSON.parse(one.text));
    assert.deepEqual(later.filter(({ data }) => data.endpointId === made.id), []);
  });
});

// Tokens of one application: what they may and what they never see (webhooks-api 8).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { at, both, hoursAgo, invalid, OPERATIONS, refused, sleep, world } from "./harness.mjs";

const ALL = ["ViewBase", "ViewEndpointSecret", "ManageEndpointSecret", "ManageTransformations", "CreateAttempts", "ManageEndpoint"];
const FORBIDDEN = "insufficient access";

describe("app tokens", () => {
  const t = world();
  const token = async (app, more) => (await t.svix.authentication.appPortalAccess(app, more)).token;

  both(t, "come with a link", async (c) => {
    const app = await t.app();
    const access = await c.authentication.appPortalAccess(app);
    assert.match(access.token, /^appsk_[0-9A-Za-z]{32}$/);
    assert.equal(access.url, `${t.server.url}/portal/#key=${access.token}`);
    if (c.old) assert.match((await c.authentication.dashboardAccess(app)).token, /^appsk_/);
    await refused(c.authentication.appPortalAccess("nobody"), 404);
    const uid = t.name("made");
    await c.authentication.appPortalAccess(uid, { application: { name: "made", uid } });
    assert.equal((await c.application.get(uid)).name, "made");
  });

  it("need no body at all", async () => {
    const app = await t.app();
    for (const body of [undefined, "", "{}"])
      assert.equal((await t.raw("POST", `/api/v1/auth/app-portal-access/${app}`, { body })).status, 200);
  });

  it("say who they are", async () => {
    const app = await t.app();
    const env = await t.own("GET", "/auth/whoami");
    assert.equal(env.type, "environment");
    const mine = (await t.raw("GET", "/api/v1/auth/whoami", { token: await token(app, { capabilities: ["ViewBase"] }) })).json();
    assert.deepEqual([mine.type, mine.appId, mine.capabilities], ["app", app, ["ViewBase"]]);
    assert.ok(new Date(mine.expiresAt) > new Date());
  });

  it("may do what they are for, and nothing else", async () => {
    const type = await t.eventType(t.name("type"), { schemas: { 1: { example: {} } } });
    const { app, ep, hook } = await t.customer();
    const sent = await t.send(app, type);
    await hook.one();
    const [attempt] = await t.waitAttempts(app, sent.id, 1);
    const since = hoursAgo(1);
    const url = "http://127.0.0.1:9/";
    // [what it needs, the call]. Those that delete or disable come last.
    const calls = {
      "own application": [["ViewBase"], (c) => c.application.get(app)],
      endpoints: [["ViewBase"], (c) => c.endpoint.list(app)],
      endpoint: [["ViewBase"], (c) => c.endpoint.get(app, ep)],
      "event types": [["ViewBase"], (c) => c.eventType.list()],
      "event type": [["ViewBase"], (c) => c.eventType.get(type)],
      messages: [["ViewBase"], (c) => c.message.list(app)],
      message: [["ViewBase"], (c) => c.message.get(app, sent.id)],
      attempts: [["ViewBase"], (c) => c.messageAttempt.listByMsg(app, sent.id)],
      attempt: [["ViewBase"], (c) => c.messageAttempt.get(app, sent.id, attempt.id)],
      "attempts of endpoint": [["ViewBase"], (c) => c.messageAttempt.listByEndpoint(app, ep)],
      "messages of endpoint": [["ViewBase"], (c) => c.messageAttempt.listAttemptedMessages(app, ep)],
      destinations: [["ViewBase"], (c) => c.messageAttempt.listAttemptedDestinations(app, sent.id)],
      stats: [["ViewBase"], (c) => c.endpoint.getStats(app, ep)],
      headers: [["ViewBase"], (c) => c.endpoint.getHeaders(app, ep)],
      secret: [["ViewEndpointSecret", "ManageEndpointSecret", "ManageEndpoint"], (c) => c.endpoint.getSecret(app, ep)],
      rotate: [["ManageEndpointSecret", "ManageEndpoint"], (c) => c.endpoint.rotateSecret(app, ep, { gracePeriodSeconds: 0 })],
      resend: [["CreateAttempts"], (c) => c.messageAttempt.resend(app, sent.id, ep)],
      recover: [["CreateAttempts"], (c) => c.endpoint.recover(app, ep, { since })],
      "replay missing": [["CreateAttempts"], (c) => c.endpoint.replayMissing(app, ep, { since })],
      "bulk replay": [["CreateAttempts"], (c) => c.endpoint.bulkReplay(app, ep, { since })],
      "send example": [["CreateAttempts"], (c) => c.endpoint.sendExample(app, ep, { eventType: type })],
      "create endpoint": [["ManageEndpoint"], (c) => c.endpoint.create(app, { url })],
      "set headers": [["ManageEndpoint"], (c) => c.endpoint.setHeaders(app, ep, { headers: {} })],
      "patch endpoint": [["ManageEndpoint"], (c) => c.endpoint.patch(app, ep, { description: "x" })],
      "create message": [[], (c) => c.message.create(app, { eventType: "x", payload: {} })],
      expunge: [[], (c) => c.message.expungeContent(app, sent.id)],
      "expunge attempt": [[], (c) => c.messageAttempt.expungeContent(app, sent.id, attempt.id)],
      "list applications": [[], (c) => c.application.list()],
      "create application": [[], (c) => c.application.create({ name: "x" })],
      "patch application": [[], (c) => c.application.patch(app, { name: "x" })],
      "delete application": [[], (c) => c.application.delete(app)],
      "create event type": [[], (c) => c.eventType.create({ name: "x", description: "" })],
      tasks: [[], (c) => c.backgroundTask.list()],
      "portal access": [[], (c) => c.authentication.appPortalAccess(app)],
      "expire all": [[], (c) => c.authentication.expireAll(app)],
      integrations: [[], (c) => c.integration.create(app, { name: "x" })],
      operational: [[], (c) => c.operationalWebhook.endpoint.list()],
      statistics: [[], (c) => c.statistics.aggregateEventTypes()],
      environment: [[], (c) => c.environment.export()],
    };
    const wrong = [];
    for (const capability of ALL) {
      const client = t.connect(await token(app, { capabilities: [capability] }));
      for (const [name, [needs, call]] of Object.entries(calls)) {
        const allowed = needs.includes("ViewBase") || needs.includes(capability); // ViewBase is always implied
        const code = await call(client).then(() => 200, (error) => (error.body?.code === FORBIDDEN ? 403 : `${error.code} ${JSON.stringify(error.body)}`));
        if (code !== (allowed ? 200 : 403)) wrong.push(`${capability}: ${name}: ${code}`);
      }
    }
    assert.deepEqual(wrong, []);
    // Absent: all of them.
    const all = t.connect(await token(app));
    for (const [name, [needs, call]] of Object.entries(calls)) if (needs.length > 0) await call(all).catch((error) => assert.fail(`${name}: ${error.code}`));
  });

  it("may use the own API of their endpoints", async () => {
    const { app, ep } = await t.customer();
    const base = `/api/v1/webhooks/app/${app}/endpoint/${ep}`;
    const [viewer, manager] = [await token(app, { capabilities: ["ViewBase"] }), await token(app, { capabilities: ["ManageEndpoint"] })];
    for (const [method, path, body] of [
      ["GET", "/state"],
      ["GET", "/delivery"],
      ["PATCH", "/delivery", { timeout: 20 }],
      ["POST", "/pause"],
      ["POST", "/resume", { mode: "deliver" }],
    ]) {
      const seen = await t.raw(method, base + path, { body, token: viewer });
      assert.equal(seen.status, method === "GET" ? 200 : 403, `${method} ${path}: ${seen.text}`);
      if (method !== "GET") assert.equal(seen.headers["content-type"], "application/problem+json"); // 15: every error
      const done = await t.raw(method, base + path, { body, token: manager });
      assert.ok(done.status < 300, `${method} ${path}: ${done.status} ${done.text}`);
    }
    assert.equal((await t.raw("GET", "/api/v1/webhooks/settings", { token: manager })).status, 403);
  });

  it("see nothing of others: not even that it is there", async () => {
    const [mine, theirs] = [await t.customer(), await t.customer()];
    const sent = await t.send(theirs.app);
    await theirs.hook.one();
    const [attempt] = await t.waitAttempts(theirs.app, sent.id, 1);
    const key = await token(mine.app);
    const names = { app: theirs.app, ep: theirs.ep, msg: sent.id, atmpt: attempt.id };
    const wrong = [];
    for (const [method, template] of OPERATIONS.filter(([, path]) => path.startsWith("/app/{app}"))) {
      const own = await t.raw(method, `/api/v1${at(template, names)}`, { token: key, body: method === "GET" ? undefined : {} });
      // As if it did not exist; what no app token may do at all may also say so.
      if (own.status !== 404 && own.status !== 403) wrong.push(`${method} ${template}: ${own.status}`);
      // Their ids under my application are nobody's.
      if (!/\{(ep|msg|atmpt)\}/.test(template)) continue;
      const mixed = await t.raw(method, `/api/v1${at(template, { ...names, app: mine.app })}`, { token: key, body: method === "GET" ? undefined : { since: hoursAgo(1), url: "http://127.0.0.1:9/", headers: {}, eventType: "svix.ping" } });
      if (![404, 403].includes(mixed.status)) wrong.push(`${method} ${template} mixed: ${mixed.status}`);
    }
    assert.deepEqual(wrong, []);
    await refused(t.connect(key).endpoint.get(theirs.app, theirs.ep), 404);
  });

  it("end by themselves, by logout, and all at once", async () => {
    const app = await t.app();
    const works = (key) => t.connect(key).application.get(app).then(() => true, ({ code }) => code);
    const [one, two, three] = [await token(app, { sessionId: "s-1" }), await token(app, { sessionId: "s-2" }), await token(app)];
    await t.connect(one).authentication.logout();
    assert.deepEqual([await works(one), await works(two), await works(three)], [401, true, true]);
    await t.svix.authentication.expireAll(app, { sessionIds: ["s-2"] });
    assert.deepEqual([await works(two), await works(three)], [401, true]);
    await t.svix.authentication.expireAll(app, { expiry: 1 });
    assert.equal(await works(three), true);
    await sleep(1300);
    assert.equal(await works(three), 401);
    const four = await token(app);
    await t.svix.authentication.expireAll(app);
    assert.equal(await works(four), 401);
    await refused(t.svix.authentication.logout(), 403, FORBIDDEN);
  });

  it("are refused with what makes no token", async () => {
    const app = await t.app();
    await t.refusedBodies("POST", `/auth/app-portal-access/${app}`, [
      [{ capabilities: ["Everything"] }, "body.capabilities.[0]"],
      [{ expiry: 3599 }, "body.expiry"],
      [{ expiry: 604801 }, "body.expiry"],
      [{ sessionId: "a b" }, "body.sessionId"],
      [{ sessionId: "x".repeat(65) }, "body.sessionId"],
      [{ featureFlags: Array.from({ length: 26 }, (_, i) => `f${i}`) }, "body.featureFlags"],
      [{ featureFlags: ["a b"] }, "body.featureFlags.[0]"],
    ]);
    await refused(t.svix.authentication.appPortalAccess(app, { readOnly: true, capabilities: ["ViewBase"] }), 422);
    await invalid(t.svix.authentication.expireAll(app, { expiry: 259201 }), "body.expiry");
    await refused(t.svix.authentication.expireAll("nobody"), 404);
  });

  it("of readers read only", async () => {
    const { app, ep } = await t.customer();
    const reader = t.connect(await token(app, { readOnly: true }));
    assert.equal((await reader.endpoint.get(app, ep)).id, ep);
    await refused(reader.endpoint.patch(app, ep, { description: "x" }), 403, FORBIDDEN);
    await refused(reader.endpoint.getSecret(app, ep), 403, FORBIDDEN); // 8, UNSURE reading
  });

  it("live through kill -9, and so does their end", async () => {
    const app = await t.app();
    const [kept, ended] = [await token(app), await token(app)];
    await t.connect(ended).authentication.logout();
    await t.server.restart();
    assert.equal((await t.connect(kept).application.get(app)).id, app);
    await refused(t.connect(ended).application.get(app), 401);
  });
});

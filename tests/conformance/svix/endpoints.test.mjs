// Endpoints: fields, lists, matching (webhooks-api 5.1, 5.2, 5.8).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, CANCELED, ID, invalid, pages, PENDING, quick, refused, TIME, waitFor, world } from "./harness.mjs";

const URL = "http://127.0.0.1:9/hook";

describe("endpoints", () => {
  const t = world();

  both(t, "are made, found by id and by uid, and deleted", async (c) => {
    const [app, uid, type] = [await t.app(), t.name("uid"), await t.eventType(t.name("type"))];
    const made = await c.endpoint.create(app, {
      url: URL,
      uid,
      description: "theirs",
      channels: ["a:1", "b+c"],
      throttleRate: 9,
      metadata: { k: "v" },
      ...c.filter([type]),
    });
    assert.match(made.id, ID.ep);
    assert.deepEqual(
      [made.url, made.uid, made.description, made.disabled, made.channels, made.throttleRate, made.metadata, made[c.filterName]],
      [URL, uid, "theirs", false, ["a:1", "b+c"], 9, { k: "v" }, [type]],
    );
    assertRecent(made.createdAt);
    assert.deepEqual(await c.endpoint.get(app, made.id), made);
    assert.deepEqual(await c.endpoint.get(app, uid), made);
    await refused(c.endpoint.create(app, { url: URL, uid }), 409, "conflict");
    // The uid is one of its application, not of the world.
    await c.endpoint.create(await t.app(), { url: URL, uid });
    await c.endpoint.delete(app, uid);
    await refused(c.endpoint.get(app, made.id), 404, "not_found");
    await refused(c.endpoint.delete(app, made.id), 404, "not_found");
  });

  it("answer with both spellings of each name, and never with the secret", async () => {
    const app = await t.app();
    const type = await t.eventType(t.name("both"));
    for (const sent of [{ eventTypes: [type] }, { filterTypes: [type] }]) {
      const made = await t.own("POST", `/app/${app}/endpoint`, { url: URL, rateLimit: 5, ...sent }, 201);
      assert.deepEqual(Object.keys(made).sort(), [
        "channels",
        "createdAt",
        "description",
        "disabled",
        "eventTypes",
        "filterTypes",
        "id",
        "metadata",
        "rateLimit",
        "throttleRate",
        "uid",
        "updatedAt",
        "url",
        "version",
      ]);
      assert.deepEqual([made.eventTypes, made.filterTypes, made.rateLimit, made.throttleRate, made.version], [[type], [type], 5, 5, 1]);
      assert.match(made.createdAt, TIME);
      assert.match(made.updatedAt, TIME);
    }
  });

  both(t, "are replaced by PUT, or made under its name", async (c) => {
    const [app, uid] = [await t.app(), t.name("uid")];
    const made = await c.endpoint.upsert(app, uid, { url: URL, description: "one", channels: ["c"], disabled: true });
    assert.deepEqual([made.uid, made.disabled], [uid, true]);
    const replaced = await c.endpoint.upsert(app, uid, { url: `${URL}2` });
    assert.deepEqual(
      [replaced.id, replaced.url, replaced.description, replaced.channels ?? null, replaced.disabled],
      [made.id, `${URL}2`, "", null, false],
    );
    // The secret is not among what PUT replaces.
    const { key } = await c.endpoint.getSecret(app, uid);
    await c.endpoint.upsert(app, uid, { url: URL });
    assert.equal((await c.endpoint.getSecret(app, uid)).key, key);
  });

  both(t, "are patched: absent keeps, null unsets", async (c) => {
    const [app, type] = [await t.app(), await t.eventType(t.name("patch"))];
    const { id } = await c.endpoint.create(app, { url: URL, description: "one", channels: ["c"], throttleRate: 3, ...c.filter([type]) });
    const one = await c.endpoint.patch(app, id, { description: "two" });
    assert.deepEqual([one.url, one.description, one.channels, one.throttleRate, one[c.filterName]], [URL, "two", ["c"], 3, [type]]);
    const two = await c.endpoint.patch(app, id, { channels: null, throttleRate: null, ...c.filter(null) });
    assert.deepEqual([two.channels ?? null, two.throttleRate ?? null, two[c.filterName] ?? null], [null, null, null]);
    await invalid(c.endpoint.patch(app, id, { url: null }), "body.url");
    assert.equal((await c.endpoint.patch(app, id, { disabled: true })).disabled, true);
  });

  both(t, "are listed by pages, newest first", async (c) => {
    const app = await t.app();
    const ids = [];
    for (let i = 0; i < 5; i += 1) ids.unshift((await c.endpoint.create(app, { url: URL })).id);
    const list = (more) => (page) => c.endpoint.list(app, { ...page, ...more });
    assert.deepEqual(await pages(list(), 2), ids);
    assert.deepEqual(await pages(list({ order: "ascending" }), 2), ids.toReversed());
    await refused(c.endpoint.list("nobody"), 404, "not_found");
  });

  it("match by event type and by channel, once, at the publish", async () => {
    const [a, b] = [await t.eventType(t.name("a")), await t.eventType(t.name("b"))];
    const app = await t.app();
    const hooks = {};
    const filters = {
      all: {},
      a: { eventTypes: [a] },
      ab: { eventTypes: [a, b] },
      one: { channels: ["one"] },
      a_two: { eventTypes: [a], channels: ["two", "three"] },
    };
    for (const [name, filter] of Object.entries(filters)) {
      hooks[name] = t.hook();
      await t.endpoint(app, hooks[name], filter);
    }
    const rows = [
      ["a, no channel", a, undefined, ["all", "a", "ab"]],
      ["b, no channel", b, undefined, ["all", "ab"]],
      ["b in one", b, ["one"], ["all", "ab", "one"]],
      ["a in two and four", a, ["two", "four"], ["all", "a", "ab", "a_two"]],
      ["a in four", a, ["four"], ["all", "a", "ab"]],
      ["another type in one and three", "other", ["one", "three"], ["all", "one"]],
    ];
    for (const [name, type, channels, matching] of rows) {
      const sent = await t.send(app, type, { name }, { channels });
      const { data } = await t.svix.messageAttempt.listAttemptedDestinations(app, sent.id);
      assert.equal(data.length, matching.length, name);
    }
    await t.settle();
    for (const [hook, { bodies }] of Object.entries(hooks)) {
      const wanted = rows.filter(([, , , matching]) => matching.includes(hook)).map(([name]) => JSON.stringify({ name }));
      assert.deepEqual(bodies.toSorted(), wanted.toSorted(), hook);
    }
  });

  it("change from the next message on, but their URL from the next attempt on", async () => {
    const type = await t.eventType(t.name("change"));
    const { app, ep, hook } = await t.customer({ answers: [500], options: quick(3, 1) });
    const first = await t.send(app, type, { first: 1 });
    await hook.one();
    const other = t.hook();
    await t.svix.endpoint.patch(app, ep, { url: other.url, eventTypes: [type] });
    assert.equal((await other.one()).headers["svix-id"], first.id);
    await t.send(app, "something.else");
    await t.settle();
    assert.equal(other.requests.length, 1);
  });

  it("cancel what waits on demand", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const { id } = await t.send(app);
    assert.equal((await t.delivery(app, id, ep)).status, PENDING);
    const answer = await t.raw("POST", `/api/v1/app/${app}/endpoint/${ep}/cancel-msgs`, { body: "" });
    assert.equal(answer.status, 204, answer.text);
    await t.waitStatus(app, id, ep, CANCELED);
  });

  it("cancel only what is named", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const [a, b] = [await t.send(app, "kind.a", {}, { tags: ["x"] }), await t.send(app, "kind.b", {}, { channels: ["c"] })];
    await t.own("POST", `/app/${app}/endpoint/${ep}/cancel-msgs`, { eventTypes: ["kind.a"] }, 204);
    await t.waitStatus(app, a.id, ep, CANCELED);
    assert.equal((await t.delivery(app, b.id, ep)).status, PENDING);
  });

  it("tell whether they are throttled", async () => {
    const { app, ep } = await t.customer();
    const quiet = await t.own("GET", `/app/${app}/endpoint/${ep}/rate-limit-status`);
    assert.deepEqual(quiet, { status: "ok", throttledSince: null });
  });

  it("are sent no faster than their rate", async () => {
    const { app, hook } = await t.customer({ throttleRate: 2 });
    for (let i = 0; i < 5; i += 1) await t.send(app, "rate", { i });
    await hook.wait(5);
    // A burst of max(1, r/10) = 1, and then two a second: the fifth comes 2 s after the first.
    assert.ok(hook.requests[4].at - hook.requests[0].at >= 1900, `${hook.requests.map(({ at }) => at - hook.requests[0].at)}`);
  });

  it("share the rate of their application", async () => {
    const app = await t.app({ throttleRate: 2 });
    const hooks = [t.hook(), t.hook()];
    for (const hook of hooks) await t.endpoint(app, hook);
    for (let i = 0; i < 2; i += 1) await t.send(app, "rate", { i });
    await waitFor(() => hooks.every((hook) => hook.requests.length === 2), "four deliveries");
    const times = hooks.flatMap(({ requests }) => requests.map(({ at }) => at)).sort((one, two) => one - two);
    assert.ok(times[3] - times[0] >= 1400, `${times.map((at) => at - times[0])}`);
  });

  it("refuse bad fields, each by its name", async () => {
    const app = await t.app();
    const one = (more) => ({ url: URL, ...more });
    await t.refusedBodies("POST", `/app/${app}/endpoint`, [
      [{}, "body.url"],
      [{ url: null }, "body.url"],
      [{ url: 7 }, "body.url"],
      [{ url: "" }, "body.url"],
      [{ url: "nowhere" }, "body.url"],
      [{ url: "ftp://example.com/" }, "body.url"],
      [{ url: "https://" }, "body.url"],
      [{ url: "https:///x" }, "body.url"],
      [{ url: "https://user:pass@example.com/" }, "body.url"],
      [{ url: "https://user@example.com/" }, "body.url"],
      [{ url: "https://example.com/a\nb" }, "body.url"],
      [{ url: "https://example.com:99999/" }, "body.url"],
      [{ url: `https://example.com/${"x".repeat(8192)}` }, "body.url"],
      [one({ description: "a\u0000" }), "body.description"],
      [one({ description: "x".repeat(4097) }), "body.description"],
      [one({ uid: "ep_mine" }), "body.uid"],
      [one({ uid: "a b" }), "body.uid"],
      [one({ disabled: "yes" }), "body.disabled"],
      [one({ eventTypes: [] }), "body.eventTypes"],
      [one({ eventTypes: "a" }), "body.eventTypes"],
      [one({ eventTypes: ["no.such"] }), "body.eventTypes"],
      [one({ channels: [] }), "body.channels"],
      [one({ channels: Array.from({ length: 11 }, (_, i) => `c${i}`) }), "body.channels"],
      [one({ channels: ["ok", "a b"] }), "body.channels.[1]"],
      [one({ throttleRate: 0 }), "body.throttleRate"],
      [one({ throttleRate: 65536 }), "body.throttleRate"],
      [one({ throttleRate: 0.5 }), "body.throttleRate"],
      [one({ secret: "whsec_" }), "body.secret"],
      [one({ secret: "whsec_AAAA" }), "body.secret"],
      [one({ secret: "whsec_no base64 at all, not one bit !!!" }), "body.secret"],
      [one({ secret: "sk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }), "body.secret"],
      [one({ secret: "whsk_AAAA" }), "body.secret"],
      [one({ secret: `whsec_${Buffer.alloc(76).toString("base64")}` }), "body.secret"],
      [one({ metadata: { k: "v".repeat(4096) } }), "body.metadata"],
      [{ url: "nowhere", uid: "a b", channels: [] }, "body.url", "body.uid", "body.channels"],
    ]);
    assert.deepEqual((await t.svix.endpoint.list(app)).data, []);
  });
});

describe("endpoints of a server that is not for development", () => {
  const t = world({ dev: false, flags: ["--token", "a-token-of-the-test"], token: "a-token-of-the-test" });

  it("are not in networks that it does not deliver to", async () => {
    const { id } = await t.svix.application.create({ name: "x" });
    const addresses = ["127.0.0.1", "10.0.0.1", "192.168.1.1:8080", "169.254.169.254", "[::1]", "[fd00::1]", "0.0.0.0", "localhost"];
    for (const address of addresses) await invalid(t.svix.endpoint.create(id, { url: `http://${address}/` }), "body.url");
    // Names are judged when they are dialled.
    await t.svix.endpoint.create(id, { url: "https://example.invalid/" });
  });
});

describe("endpoints of https alone", () => {
  const t = world();

  it("are what the setting asks for", async () => {
    const app = await t.app();
    await t.own("PATCH", "/webhooks/settings", { httpsOnly: true, maxEndpointsPerApp: 2 }, 200);
    await invalid(t.svix.endpoint.create(app, { url: URL }), "body.url");
    for (let i = 0; i < 2; i += 1) await t.svix.endpoint.create(app, { url: "https://example.com/" });
    await refused(t.svix.endpoint.create(app, { url: "https://example.com/" }), 400, "limit_reached");
  });
});

// Messages: what is sent is what was given (webhooks-api 6).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { messageInRaw } from "svix";
import { assertNotBefore, assertRecent, both, ID, inHours, invalid, pages, refused, signV1, signaturesOf, TIME, verified, waitFor, world } from "./harness.mjs";

describe("messages", () => {
  const t = world();

  both(t, "are sent, and found by id and by eventId", async (c) => {
    const { app, hook } = await t.customer();
    const eventId = t.name("event");
    const payload = { id: 1, name: "Ada", nested: [true, null, { x: 1.5 }] };
    const sent = await c.message.create(app, { eventType: "user.created", payload, eventId, channels: ["a", "b"], tags: ["t/1", "#x"] });
    assert.match(sent.id, ID.msg);
    assert.deepEqual([sent.eventType, sent.eventId, sent.channels, sent.tags], ["user.created", eventId, ["a", "b"], ["t/1", "#x"]]);
    assertRecent(sent.timestamp);
    assert.equal(sent.deliverAt ?? null, null);
    // 23: 1.x merges the payload back by itself; 2.x asks for none.
    assert.deepEqual(sent.payload, c.old ? payload : {});
    const whole = { ...sent, payload };
    assert.deepEqual(await c.message.get(app, sent.id, { withContent: true }), whole);
    assert.deepEqual(await c.message.get(app, eventId, { withContent: true }), whole);
    assert.deepEqual((await c.message.get(app, sent.id, { withContent: false })).payload, {});
    assert.deepEqual((await c.message.get(app, sent.id)).payload, c.old ? payload : {});
    const request = await hook.one();
    assert.equal(request.text, JSON.stringify(payload));
    assert.equal(request.headers["svix-id"], sent.id);
  });

  it("answer with all members, and with the payload unless told not to", async () => {
    const app = await t.app();
    const made = await t.own("POST", `/app/${app}/msg`, { eventType: "x", payload: { a: 1 } }, 202);
    assert.deepEqual(Object.keys(made).sort(), ["channels", "deliverAt", "eventId", "eventType", "id", "payload", "tags", "timestamp"]);
    assert.deepEqual(made.payload, { a: 1 });
    assert.match(made.timestamp, TIME);
    assert.deepEqual((await t.own("POST", `/app/${app}/msg?with_content=false`, { eventType: "x", payload: { a: 1 } })).payload, {});
    assert.deepEqual((await t.own("GET", `/app/${app}/msg/${made.id}`)).payload, { a: 1 });
    // Also when nobody matched, it is found at once.
    assert.equal((await t.svix.message.get(app, made.id)).id, made.id);
  });

  it("take the older name of the payload", async () => {
    const { app, hook } = await t.customer();
    await t.own("POST", `/app/${app}/msg`, '{"eventType": "x", "data": {"a": [1]}}', 202);
    assert.equal((await hook.one()).text, '{"a": [1]}');
  });

  it("are delivered as the bytes that were given", async () => {
    const { app, ep, hook } = await t.customer();
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    const payloads = [
      '{"b" : 1.0,  "a":[ ], "big": 12345678901234567890, "e": 1E+2}',
      '{ "\\u00e9": "\\/", "é": "\\ud83d\\ude00 😀" }',
      '{\n\t"a": {"a": {"a": "}\\"{"}}\r\n}',
      '{"a": 1, "a": 2}',
      "{}",
    ];
    for (const [i, payload] of payloads.entries()) {
      await t.own("POST", `/app/${app}/msg`, `{"later": [{"payload": {"no": 1}}], "payload" : ${payload} ,"eventType":"x"}`, 202);
      const request = (await hook.wait(i + 1))[i];
      assert.equal(request.text, payload);
      verified(request, key);
    }
  });

  both(t, "may carry anything as a raw payload", async (c) => {
    const { app, ep, hook } = await t.customer();
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    const build = c.messageInRaw ?? messageInRaw;
    const sent = await c.message.create(app, build("x", "<a>é</a>", "application/xml"));
    await c.message.create(app, build("x", '{"a":   1}'));
    const [xml, json] = await hook.wait(2);
    assert.deepEqual([xml.text, xml.headers["content-type"]], ["<a>é</a>", "application/xml"]);
    assert.deepEqual([json.text, json.headers["content-type"]], ['{"a":   1}', "application/json"]);
    verified(xml, key);
    verified(json, key);
    const raw = await t.raw("GET", `/api/v1/app/${app}/msg/${sent.id}/raw`);
    assert.deepEqual([raw.status, raw.text, raw.headers["content-type"]], [200, "<a>é</a>", "application/xml"]);
    // 6.1 (UNSURE): shown is what the caller sent as `payload`.
    assert.deepEqual((await c.message.get(app, sent.id, { withContent: true })).payload, {});
  });

  it("may carry headers of their own", async () => {
    const { app, hook } = await t.customer({ headers: { "X-Static": "s" } });
    const transformationsParams = { headers: { "X-Own": "o", "Content-Type": "application/vnd.a+json" }, other: 1 };
    await t.send(app, "x", { a: 1 }, { transformationsParams });
    const { headers, text } = await hook.one();
    assert.deepEqual([headers["x-own"], headers["x-static"], headers["content-type"], text], ["o", "s", "application/vnd.a+json", '{"a":1}']);
    await refused(t.send(app, "x", {}, { transformationsParams: { headers: { "svix-id": "mine" } } }), 422);
    await refused(t.send(app, "x", {}, { transformationsParams: { rawPayload: 7 } }), 422);
  });

  both(t, "have an eventId that no other one has", async (c) => {
    const { app, hook } = await t.customer();
    const eventId = t.name("event");
    await c.message.create(app, { eventType: "x", payload: { n: 1 }, eventId });
    await refused(c.message.create(app, { eventType: "x", payload: { n: 2 }, eventId }), 409, "conflict");
    await c.message.create(await t.app(), { eventType: "x", payload: {}, eventId }); // of another application
    await t.settle();
    assert.deepEqual(hook.bodies, ['{"n":1}']);
    const { headers } = hook.requests[0];
    assert.doesNotMatch(headers["svix-id"], /\./);
  });

  it("of one eventId that are sent at once are one", async () => {
    const { app, hook } = await t.customer();
    const eventId = t.name("event");
    const calls = Array.from({ length: 12 }, (_, n) => t.send(app, "x", { n }, { eventId }).then(({ id }) => id, ({ code }) => code));
    const results = await Promise.all(calls);
    const ids = results.filter((one) => typeof one === "string");
    assert.equal(ids.length, 1, `${results}`);
    assert.deepEqual(new Set(results.filter((one) => one !== ids[0])), new Set([409]));
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  both(t, "create their application", async (c) => {
    const uid = t.name("customer");
    const application = { name: "by the message", uid };
    const sent = await c.message.create(uid, { eventType: "x", payload: {}, application });
    const made = await c.application.get(uid);
    assert.equal(made.name, "by the message");
    assert.equal((await c.message.get(made.id, sent.id)).id, sent.id);
    // Ignored if it exists.
    await c.message.create(uid, { eventType: "x", payload: {}, application: { name: "again", uid } });
    assert.equal((await c.application.get(uid)).name, "by the message");
    await refused(c.message.create("nobody", { eventType: "x", payload: {} }), 404);
  });

  it("that create one application at once create one", async () => {
    const uid = t.name("customer");
    const create = (n) => t.send(uid, "x", { n }, { application: { name: "race", uid } });
    const portal = () => t.svix.authentication.appPortalAccess(uid, { application: { name: "race", uid } });
    await Promise.all([create(1), create(2), portal(), create(3), portal()]);
    const { id } = await t.svix.application.get(uid);
    assert.equal((await t.svix.message.list(id)).data.length, 3);
  });

  it("say what is wrong with the application they would create", async () => {
    const type = async (application) => {
      const { body } = await refused(t.send("new-one", "x", {}, { application }), 422);
      return body.detail.map((one) => one.type);
    };
    assert.deepEqual(await type({ name: "x" }), ["application_uid_missing"]);
    assert.deepEqual(await type({ name: "x", uid: "other" }), ["application_uid_mismatch"]);
    await invalid(t.send("new-one", "x", {}, { application: { name: "", uid: "new-one" } }), "body.application.name");
    await refused(t.svix.application.get("new-one"), 404);
  });

  it("are not delivered before their time", async () => {
    const { app, ep, hook } = await t.customer();
    const deliverAt = new Date(Date.now() + 1500);
    const sent = await t.send(app, "x", {}, { deliverAt });
    assert.equal(sent.deliverAt.getTime(), deliverAt.getTime());
    const waiting = await t.delivery(app, sent.id, ep);
    assert.equal(waiting.status, 1);
    assert.ok(Math.abs(waiting.nextAttempt - deliverAt) < 1000, `${waiting.nextAttempt}`);
    const { at } = await hook.one();
    assertNotBefore(at, deliverAt.getTime());
  });

  both(t, "are checked before: would anybody get it?", async (c) => {
    const [wanted, other] = [await t.eventType(t.name("wanted")), t.name("other")];
    const { app, ep } = await t.customer({ eventTypes: [wanted], channels: ["in"] });
    const active = async (eventType, channels) => (await c.message.precheck(app, { eventType, channels })).active;
    assert.equal(await active(wanted, ["in", "more"]), true);
    assert.equal(await active(wanted), false);
    assert.equal(await active(other, ["in"]), false);
    await c.endpoint.patch(app, ep, { disabled: true });
    assert.equal(await active(wanted, ["in"]), false);
  });

  both(t, "are listed newest first, by pages and by filters", async (c) => {
    const app = await t.app();
    const ids = [];
    for (let i = 0; i < 6; i += 1) {
      const more = { channels: [i % 2 ? "odd" : "even", "all"], tags: [`t${i % 3}`] };
      ids.unshift((await t.send(app, `type.${i % 2}`, { i }, more)).id);
    }
    const found = async (more) => (await c.message.list(app, more)).data.map(({ id }) => id);
    assert.deepEqual(await pages((page) => c.message.list(app, page), 2), ids);
    assert.deepEqual(await found({ channel: "odd" }), [ids[0], ids[2], ids[4]]);
    assert.deepEqual(await found({ tag: "t0" }), [ids[2], ids[5]]);
    assert.deepEqual(await found({ eventTypes: ["type.0"] }), [ids[1], ids[3], ids[5]]);
    assert.deepEqual(await found({ eventTypes: ["type.0", "type.1"] }), ids);
    assert.deepEqual(await found({ eventTypes: ["type.9"] }), []);
    // One parameter with commas, or the parameter repeated.
    const repeated = await t.own("GET", `/app/${app}/msg?event_types=type.0&event_types=type.1`);
    assert.equal(repeated.data.length, 6);
    const [newest] = (await c.message.list(app, { limit: 1, withContent: true })).data;
    assert.deepEqual(newest.payload, { i: 5 });
    const times = Object.fromEntries((await c.message.list(app)).data.map(({ id, timestamp }) => [id, timestamp]));
    await new Promise((resolve) => setTimeout(resolve, 5));
    const later = await t.send(app, "later");
    assert.ok(!(await found({ before: later.timestamp })).includes(later.id)); // exclusive
    assert.deepEqual(await found({ after: later.timestamp }), []);
    assert.ok((await found({ after: times[ids[0]] })).includes(later.id));
    assert.deepEqual(await found({ before: inHours(-24) }), []);
  });

  it("with `after` alone are walked forward in time", async () => {
    const app = await t.app();
    const ids = [];
    for (let i = 0; i < 5; i += 1) ids.push((await t.send(app, "x", { i })).id);
    const first = await t.svix.message.list(app, { after: inHours(-1), limit: 2 });
    // The oldest after it, still shown newest first.
    assert.deepEqual(
      first.data.map(({ id }) => id),
      [ids[1], ids[0]],
    );
    const second = await t.svix.message.list(app, { iterator: first.prevIterator, limit: 2 });
    assert.deepEqual(
      second.data.map(({ id }) => id),
      [ids[3], ids[2]],
    );
  });

  it("refuse bad fields, each by its name", async () => {
    const app = await t.app();
    const one = (more) => ({ eventType: "x", payload: {}, ...more });
    const days = (count) => new Date(Date.now() + count * 86_400_000).toISOString();
    await t.refusedBodies("POST", `/app/${app}/msg`, [
      [{}, "body.eventType", "body.payload"],
      [{ eventType: "x" }, "body.payload"],
      [{ payload: {} }, "body.eventType"],
      [{ eventType: "a b", payload: {} }, "body.eventType"],
      [{ eventType: "", payload: {} }, "body.eventType"],
      [one({ payload: [] }), "body.payload"],
      [one({ payload: "{}" }), "body.payload"],
      [one({ payload: null }), "body.payload"],
      [one({ payload: 7 }), "body.payload"],
      [one({ eventId: "a b" }), "body.eventId"],
      [one({ eventId: "" }), "body.eventId"],
      [one({ eventId: "msg_mine" }), "body.eventId"],
      [one({ eventId: "x".repeat(257) }), "body.eventId"],
      [one({ channels: [] }), "body.channels"],
      [one({ channels: Array.from({ length: 11 }, (_, i) => `c${i}`) }), "body.channels"],
      [one({ channels: ["a", "b", "c d"] }), "body.channels.[2]"],
      [one({ tags: Array.from({ length: 6 }, (_, i) => `t${i}`) }), "body.tags"],
      [one({ tags: ["x".repeat(129)] }), "body.tags.[0]"],
      [one({ tags: ["a b"] }), "body.tags.[0]"],
      [one({ deliverAt: "soon" }), "body.deliverAt"],
      [one({ deliverAt: days(-1) }), "body.deliverAt"],
      [one({ deliverAt: days(367) }), "body.deliverAt"],
      [one({ payloadRetentionPeriod: 0 }), "body.payloadRetentionPeriod"],
      [one({ payloadRetentionPeriod: 91 }), "body.payloadRetentionPeriod"],
      [one({ payloadRetentionHours: 0 }), "body.payloadRetentionHours"],
      [one({ payloadRetentionHours: 2161 }), "body.payloadRetentionHours"],
    ]);
    await t.refusals([
      ["both retentions", "POST", `/app/${app}/msg`, { body: one({ payloadRetentionPeriod: 1, payloadRetentionHours: 1 }) }, 422],
      ["channels twice", "POST", `/app/${app}/msg`, { body: one({ channels: ["a", "a"] }) }, 422],
      ["tags twice", "POST", `/app/${app}/msg`, { body: one({ tags: ["a", "a"] }) }, 422],
      ["a payload that is too deep", "POST", `/app/${app}/msg`, { body: `{"eventType":"x","payload":{"a":${"[".repeat(200)}${"]".repeat(200)}}}` }, 422],
    ]);
    const { body } = await refused(t.send(app, "x", []), 422);
    assert.equal(body.detail[0].msg, "Payload must be an object.");
    assert.deepEqual((await t.svix.message.list(app)).data, []);
  });

  it("are refused when they are too large, and the answer arrives", async () => {
    const { app, hook } = await t.customer();
    const large = (bytes) => ({ eventType: "x", payload: { a: "x".repeat(bytes) } });
    await t.own("POST", `/app/${app}/msg`, large(1_000_000), 202);
    await t.refusals([
      ["a payload of more than 1 MiB", "POST", `/app/${app}/msg`, { body: large(1 << 20) }, [413, "payload_too_large"]],
      ["a body far beyond", "POST", `/app/${app}/msg`, { body: large(3 << 20) }, [413, "payload_too_large"]],
    ]);
    assert.equal((await hook.one()).body.length, 1_000_000 + 8);
  });

  it("whose bytes are no UTF-8 come back as they were sent", async () => {
    const { app, ep, hook } = await t.customer();
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    const rawPayload = "caf\u00e9 \u0000 \ufffd";
    await t.send(app, "x", {}, { transformationsParams: { rawPayload } });
    const request = await hook.one();
    assert.equal(request.text, rawPayload);
    assert.deepEqual(signaturesOf(request), [signV1(request, key)]);
  });

  it("of an application without endpoints are kept", async () => {
    const app = await t.app();
    const { id } = await t.send(app);
    await waitFor(async () => (await t.svix.message.get(app, id)).id === id, "it");
    assert.deepEqual((await t.svix.messageAttempt.listAttemptedDestinations(app, id)).data, []);
    assert.deepEqual(await t.attempts(app, id), []);
  });
});

// Static headers of an endpoint (webhooks-api 5.4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, quick, world } from "./harness.mjs";

const FORBIDDEN = (
  "user-agent keep-alive proxy-authenticate proxy-authorization te trailers transfer-encoding upgrade age cache-control " +
  "clear-site-data expires pragma warning content-length content-type content-encoding content-language content-location " +
  "host connection expect idempotency-key traceparent tracestate " +
  "x-amz-a x-amzn-a x-google-a x-goog-a x-gfe-a x-azure-a x-fd-a x-svix-a svix-id webhook-id hikyaku-attempt upstash-a"
).split(" ");

describe("headers of endpoints", () => {
  const t = world();

  both(t, "are set, merged and sent", async (c) => {
    const { app, ep, hook } = await t.customer();
    assert.deepEqual(await c.endpoint.getHeaders(app, ep), { headers: {}, sensitive: [] });
    await c.endpoint.setHeaders(app, ep, { headers: { "X-One": "1", "X-Two": "2", Authorization: "Bearer theirs" } });
    assert.deepEqual(await c.endpoint.getHeaders(app, ep), { headers: { "X-One": "1", "X-Two": "2" }, sensitive: ["Authorization"] });
    await c.endpoint.patchHeaders(app, ep, { headers: { "x-one": "one", "X-Three": "3" }, deleteHeaders: ["x-TWO"] });
    const { headers, sensitive } = await c.endpoint.getHeaders(app, ep);
    assert.deepEqual(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]).sort(), [
      ["x-one", "one"],
      ["x-three", "3"],
    ]);
    assert.deepEqual(sensitive, ["Authorization"]);
    await t.send(app);
    const got = (await hook.one()).headers;
    assert.deepEqual([got["x-one"], got["x-two"], got["x-three"], got.authorization], ["one", undefined, "3", "Bearer theirs"]);
    await c.endpoint.setHeaders(app, ep, { headers: {} });
    assert.deepEqual(await c.endpoint.getHeaders(app, ep), { headers: {}, sensitive: [] });
  });

  it("may be given with the endpoint, and null removes one", async () => {
    const { app, ep } = await t.customer({ headers: { "X-Api-Key": "k", "X-Kept": "v", "X-Gone": "v" } });
    await t.own("PATCH", `/app/${app}/endpoint/${ep}/headers`, { headers: { "x-gone": null } }, 204);
    assert.deepEqual(await t.svix.endpoint.getHeaders(app, ep), { headers: { "X-Kept": "v" }, sensitive: ["X-Api-Key"] });
  });

  it("hide the values of those that are secrets, in any case", async () => {
    const { app, ep } = await t.customer();
    const names = ["X-Auth-Token", "x-api-key", "Www-Authenticate", "AUTHORIZATION"];
    await t.svix.endpoint.setHeaders(app, ep, { headers: Object.fromEntries(names.map((name) => [name, "hidden-value"])) });
    const answer = await t.raw("GET", `/api/v1/app/${app}/endpoint/${ep}/headers`);
    assert.deepEqual(answer.json().sensitive.toSorted(), names.toSorted());
    assert.ok(!answer.text.includes("hidden-value"));
  });

  it("keep their case on the wire", async () => {
    const { app, hook } = await t.customer({ headers: { "X-MiXed-CaSe": "v" } });
    let raw;
    t.receiver.http.once("request", (request) => (raw = request.rawHeaders));
    await t.send(app);
    await hook.one();
    assert.ok(raw.includes("X-MiXed-CaSe"), `${raw}`);
  });

  it("apply from the next attempt on", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: quick(2, 1) });
    await t.send(app);
    await hook.one();
    await t.svix.endpoint.setHeaders(app, ep, { headers: { "X-Late": "yes" } });
    const [, second] = await hook.wait(2);
    assert.equal(second.headers["x-late"], "yes");
  });

  it("are refused where they would be ours, or none", async () => {
    const { app, ep } = await t.customer();
    const wrong = [
      ...FORBIDDEN.map((name) => ({ [name]: "v" })),
      { "a b": "v" },
      { "": "v" },
      { "X:Y": "v" },
      { "X-A": "a\nb" },
      { "X-A": "a\u0000b" },
      { "X-A": "x".repeat(4097) },
      { "X-A": 7 },
      Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, "v"])),
    ];
    await t.refusals(
      wrong.flatMap((headers) => [
        [`PUT ${JSON.stringify(headers).slice(0, 60)}`, "PUT", `/app/${app}/endpoint/${ep}/headers`, { body: { headers } }, 422],
        [`PATCH ${JSON.stringify(headers).slice(0, 60)}`, "PATCH", `/app/${app}/endpoint/${ep}/headers`, { body: { headers } }, 422],
        [`POST ${JSON.stringify(headers).slice(0, 60)}`, "POST", `/app/${app}/endpoint`, { body: { url: "http://127.0.0.1:9/", headers } }, 422],
      ]),
    );
    await t.refusals([
      ["no headers", "PUT", `/app/${app}/endpoint/${ep}/headers`, { body: {} }, ["body.headers"]],
      ["no map", "PUT", `/app/${app}/endpoint/${ep}/headers`, { body: { headers: [] } }, ["body.headers"]],
    ]);
    assert.deepEqual(await t.svix.endpoint.getHeaders(app, ep), { headers: {}, sensitive: [] });
  });
});

// What is not there says so (webhooks-api 11).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, refused, world } from "./harness.mjs";

describe("out of scope", () => {
  const t = world();

  both(t, "transformations are off, and stay so", async (c) => {
    const { app, ep } = await t.customer();
    const off = { code: null, enabled: false, variables: null, updatedAt: null };
    assert.deepEqual(await t.own("GET", `/app/${app}/endpoint/${ep}/transformation`, undefined, 200), off);
    const get = c.old ? c.client.endpoint.transformationGet(app, ep) : c.client.endpoint.transformation.get(app, ep);
    assert.equal((await get).enabled, false);
    const patch = (body) => (c.old ? c.client.endpoint.patchTransformation(app, ep, body) : c.client.endpoint.transformation.patch(app, ep, body));
    await patch({ enabled: false });
    await patch({ code: null });
    await refused(patch({ enabled: true }), 501);
    await refused(patch({ code: "function handler(webhook) { return webhook }" }), 501);
  });

  it("everything else of it is 501, in JSON", async () => {
    const { app } = await t.customer();
    const rows = [
      ["POST", "/api/v1/connector"],
      ["PUT", "/api/v1/connector/x"],
      ["GET", `/api/v1/app/${app}/destination`],
      ["POST", `/api/v1/app/${app}/destination`],
      ["POST", `/api/v1/app/${app}/autoconfig`],
      ["POST", `/api/v1/auth/stream-portal-access/x`],
      ["GET", "/api/v1/stream"],
      ["POST", "/api/v1/stream"],
      ["POST", "/api/v1/stream/x/events"],
      ["GET", "/api/v1/stream/event-type"],
      ["GET", `/api/v1/app/${app}/poller/x`],
      ["POST", `/api/v1/app/${app}/poller/x/consumer/y/seek`],
      ["POST", "/api/v1/msg/broadcast"],
      ["GET", "/api/v1/events"],
      ["GET", "/api/v1/management/authentication/api-token"],
      ["GET", "/ingest/api/v1/source"],
      ["POST", "/ingest/api/v1/source"],
    ];
    const wrong = [];
    for (const [method, path] of rows) {
      const answer = await t.raw(method, path, { body: method === "GET" ? undefined : {} });
      const code = answer.headers["content-type"]?.startsWith("application/json") ? answer.json().code : "no JSON";
      if (answer.status !== 501 || code !== "not_implemented") wrong.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 100)}`);
    }
    assert.deepEqual(wrong, []);
  });

  both(t, "lists of connectors are empty", async (c) => {
    const { data, done } = await c.client.connector.list();
    assert.deepEqual([data, done], [[], true]);
  });
});

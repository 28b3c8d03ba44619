// Who may, which paths there are, and how refusals look.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { QstashError, upstash } from "@upstash/qstash";
import { DEV_TOKEN, refused, world } from "./harness.mjs";

// Every endpoint that is there, by an example.
const ENDPOINTS = [
  ["POST", "/v2/publish/http://127.0.0.1/"],
  ["POST", "/v2/enqueue/q/http://127.0.0.1/"],
  ["GET", "/v2/messages/msg_x"],
  ["DELETE", "/v2/messages/msg_x"],
  ["GET", "/v2/dlq"],
  ["DELETE", "/v2/dlq"],
  ["GET", "/v2/dlq/1-1"],
  ["DELETE", "/v2/dlq/1-1"],
  ["POST", "/v2/dlq/retry"],
  ["POST", "/v2/dlq/retry/1-1"],
  ["GET", "/v2/events"],
  ["GET", "/v2/logs"],
  ["GET", "/v2/keys"],
];

describe("errors", () => {
  const t = world();

  for (const [name, headers] of [
    ["no token", {}],
    ["an empty token", { Authorization: "Bearer " }],
    ["a wrong token", { Authorization: "Bearer wrong" }],
    ["a longer token", { Authorization: `Bearer ${DEV_TOKEN}x` }],
    ["a shorter token", { Authorization: `Bearer ${DEV_TOKEN.slice(0, -1)}` }],
    ["another scheme", { Authorization: `Basic ${DEV_TOKEN}` }],
    ["a token without scheme", { Authorization: DEV_TOKEN }],
  ]) {
    it(`are 401 everywhere with ${name}`, async () => {
      await t.refusals(
        ENDPOINTS.map(([method, target]) => [`${method} ${target}`, method, target, { token: null, headers }, 401]),
      );
    });
  }

  it("reach the client as QstashError with status and text", async () => {
    const error = await t
      .connect({ token: "wrong" })
      .messages.get("msg_x")
      .catch((reason) => reason);

    assert.ok(error instanceof QstashError);
    assert.equal(error.status, 401);
    assert.equal(typeof JSON.parse(error.message).error, "string");
    await refused(t.connect({ token: "wrong" }).dlq.listMessages(), 401);
    await refused(t.connect({ token: "" }).logs(), 401);
  });

  it("do not depend on the letter case of Bearer or of the path, nor on a slash at the end", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      assert.equal(
        (await t.raw("GET", "/v2/keys", { token: null, headers: { Authorization: `${scheme} ${DEV_TOKEN}` } })).status,
        200,
        scheme,
      );
    }
    for (const path of ["/v2/dlq/", "/v2/DLQ", "/v2/events/", "/v2/Events", "/v2/keys/", "/v2/Keys"])
      assert.equal((await t.raw("GET", path)).status, 200, path);
  });

  it("take the token from the query, and a wrong header is not saved by it", async () => {
    const query = `qstash_token=${encodeURIComponent(DEV_TOKEN)}`;

    assert.equal((await t.raw("GET", `/v2/keys?${query}`, { token: null })).status, 200);
    assert.equal((await t.raw("GET", `/v2/dlq?count=5&${query}`, { token: null })).status, 200);
    assert.equal((await t.raw("GET", "/v2/keys?qstash_token=wrong", { token: null })).status, 401);
    assert.equal((await t.raw("GET", `/v2/keys?${query}`, { token: "wrong" })).status, 401);
  });

  it("are 404 for paths that are not there", async () => {
    const rows = [
      "/",
      "/v1/publish/http://127.0.0.1/",
      "/v2",
      "/v2/",
      "/v2/nothing",
      "/v3/keys",
      "/v2/keys/x/y",
      "/v2/workflows/runs/x",
      "/v2/wait/x",
      "/v2/notify/x",
    ];
    await t.refusals(rows.map((path) => [path, "GET", path, {}, 404]).filter(([path]) => path.startsWith("/v2/")));
    for (const path of rows) assert.equal((await t.raw("GET", path)).status, 404, path);
    assert.equal((await t.raw("POST", "/llm/v1/chat/completions", { body: "{}" })).status, 404);
  });

  it("are 405 for other methods, and say which there are", async () => {
    for (const [method, target] of [
      ["GET", "/v2/publish/http://127.0.0.1/"],
      ["PUT", "/v2/dlq"],
      ["POST", "/v2/events"],
      ["DELETE", "/v2/keys"],
      ["PATCH", "/v2/messages/msg_x"],
    ]) {
      const answer = await t.raw(method, target);
      assert.equal(answer.status, 405, `${method} ${target}`);
      assert.equal(typeof answer.json().error, "string");
      assert.ok(answer.headers.allow, `${method} ${target} has no Allow`);
    }
  });

  it("tell other products of the vendor that they are not here", async () => {
    await refused(t.client.workflow.cancel("wfr_x"), 404);
    await assert.rejects(
      t.client.chat().create({ provider: upstash(), model: "m", messages: [] }),
      (error) => error.status === 404,
    );
  });

  it("are 400 for broken escapes and queries, never 500", async () => {
    for (const target of [
      "/v2/messages/%",
      "/v2/messages/%zz",
      "/v2/dlq?label=%",
      "/v2/events?messageId=%zz",
      "/v2/dlq?%00=1",
      "/v2/dlq?count=1&count=2",
      "/v2/enqueue/%zz/http://127.0.0.1/",
    ]) {
      const answer = await t.raw(target.includes("enqueue") ? "POST" : "GET", target);
      assert.ok(answer.status >= 400 && answer.status < 500, `${target}: ${answer.status} ${answer.text}`);
      assert.equal(typeof answer.json().error, "string");
    }
  });

  it("do not hurt the connection: the next request on it is answered", async () => {
    const hook = t.hook();
    for (let i = 0; i < 20; i += 1)
      await refused(t.client.publish({ url: `nope://${i}`, body: "x".repeat(10_000) }), 400);

    await t.client.publish({ url: hook.url, body: "x" });

    await hook.one();
  });
});

describe("destinations that are forbidden", () => {
  const t = world({ dev: false, token: "chosen", flags: ["--token", "chosen"] });

  for (const destination of [
    "http://127.0.0.1:1/",
    "http://localhost:1/",
    "http://[::1]:1/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest",
    "http://0.0.0.0:1/",
  ]) {
    it(`are never reached: ${destination}`, async () => {
      const answer = await t.raw("POST", `/v2/publish/${destination}`, {
        body: "x",
        headers: { "Upstash-Retries": "0" },
      });

      if (answer.status === 400) {
        assert.match(answer.json().error, /destination|address/);
        return;
      }
      // Judged when it is resolved: then the attempt fails and says why.
      const entry = await t.waitDeadLetter(answer.json().messageId);
      assert.equal(entry.responseStatus, 0);
      assert.match(entry.responseBody, /policy|not allowed|forbidden|private|loopback/i);
    });
  }

  it("are not reached on the receiver that really listens", async () => {
    const hook = t.hook();

    const answer = await t.raw("POST", `/v2/publish/${hook.url}`, { body: "x", headers: { "Upstash-Retries": "0" } });

    if (answer.status < 300) await t.waitDeadLetter(answer.json().messageId);
    else assert.equal(answer.status, 400);
    assert.equal(hook.requests.length, 0);
  });
});

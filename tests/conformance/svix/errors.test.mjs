// Errors and the transport (webhooks-api 1.1 to 1.3, 20).
import assert from "node:assert/strict";
import net from "node:net";
import { describe, it } from "node:test";
import { at, both, hoursAgo, OPERATIONS, problemOf, refused, world } from "./harness.mjs";

const NAMES = { app: "nobody", ep: "nobody", msg: "nobody", atmpt: "nobody", name: "nobody", task: "nobody", integ: "nobody" };

describe("errors", () => {
  const t = world();

  it("401: every operation wants a token", async () => {
    const wrong = [];
    for (const [method, template] of OPERATIONS)
      for (const token of [null, "wrong", "appsk_00000000000000000000000000000000"]) {
        const answer = await t.raw(method, `/api/v1${at(template, NAMES)}`, { token, body: method === "GET" ? undefined : {} });
        const problem = problemOf(answer, [401, "authentication_failed"]);
        if (problem) wrong.push(`${method} ${template} with ${token}: ${problem}`);
        else if (answer.json().detail !== "Invalid token") wrong.push(`${method} ${template}: ${answer.text}`);
      }
    assert.deepEqual(wrong, []);
  });

  both(t, "are what the clients throw", async (c) => {
    const { body } = await refused(c.application.get("nobody"), 404, "not_found");
    assert.equal(typeof body.detail, "string");
    const stranger = t.line(c.name, "wrong");
    assert.equal((await refused(stranger.application.list(), 401)).body.code, "authentication_failed");
  });

  it("404: what is not there", async () => {
    const wrong = [];
    const body = { since: hoursAgo(1), url: "http://127.0.0.1:9/", headers: {}, name: "x", description: "x", eventType: "svix.ping", payload: {}, enabled: false };
    for (const [method, template] of OPERATIONS.filter(([, path]) => path.includes("{"))) {
      if (method === "PUT" && /\{(app|name|ep)\}$/.test(template)) continue; // those create
      const answer = await t.raw(method, `/api/v1${at(template, NAMES)}`, { body: method === "GET" ? undefined : body });
      const problem = problemOf(answer, 404);
      if (problem) wrong.push(`${method} ${template}: ${problem}`);
    }
    assert.deepEqual(wrong, []);
  });

  it("404: paths under the reserved segments that nobody has", async () => {
    const paths = ["/app/x/nothing", "/event-type/x/y/z", "/auth", "/auth/x", "/stats", "/environment", "/operational-webhook", "/background-task/x/y"];
    await t.refusals(paths.map((path) => [path, "GET", path, {}, 404]));
  });

  it("405: with the methods that there are", async () => {
    const rows = [
      ["DELETE", "/app", ["GET", "POST"]],
      ["POST", "/app/x", ["DELETE", "GET", "PATCH", "PUT"]],
      ["PATCH", "/app/x/msg", ["GET", "POST"]],
      ["POST", "/health", ["GET"]],
      ["GET", "/environment/export", ["POST"]],
    ];
    for (const [method, path, allowed] of rows) {
      const answer = await t.raw(method, `/api/v1${path}`, { body: {} });
      assert.equal(problemOf(answer, 405), undefined, `${method} ${path}`);
      const allow = answer.headers.allow.split(/, */).filter((one) => !["HEAD", "OPTIONS"].includes(one));
      assert.deepEqual(allow.toSorted(), allowed, `${method} ${path}`);
    }
  });

  it("422: what is no JSON of the right kind", async () => {
    const app = await t.app();
    const decode = async (body) => {
      const answer = await t.raw("POST", `/api/v1/app/${app}/msg`, { body });
      assert.equal(answer.status, 422, `${body}: ${answer.text}`);
      return answer.json().detail[0];
    };
    for (const body of ["{", "nonsense", '{"eventType": "x", "payload": {}', '{"eventType": "x",, "payload": {}}', "[]", '"x"', "7", ""]) {
      const { loc, type } = await decode(body);
      assert.deepEqual([loc[0], type], ["body", "value_error.jsondecode"], body);
    }
    const invalid = Buffer.concat([Buffer.from('{"eventType":"x","payload":{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}}')]);
    assert.equal((await decode(invalid)).type, "value_error.jsondecode");
    assert.equal((await decode(`{"eventType":"x","payload":{},"z":${"[".repeat(129)}${"]".repeat(129)}}`)).type, "value_error.jsondecode");
    assert.equal((await decode('{"eventType": 7, "payload": {}}')).type, "value_error.jsondecode");
  });

  it("a repeated key is none: the last counts", async () => {
    const made = await t.own("POST", "/app", '{"name": "first", "name": "second"}', 201);
    assert.equal(made.name, "second");
  });

  it("null is absent in POST and PUT", async () => {
    const made = await t.own("POST", "/app", { name: "x", uid: null, throttleRate: null, metadata: null }, 201);
    assert.deepEqual([made.uid, made.throttleRate, made.metadata], [null, null, {}]);
  });

  it("a request without a type of content is JSON, and other types of it do no harm", async () => {
    for (const headers of [{}, { "Content-Type": "application/json; charset=utf-8" }])
      assert.equal((await t.raw("POST", "/api/v1/app", { body: '{"name":"x"}', headers })).status, 201);
  });

  it("a slash at the end changes nothing", async () => {
    const { app, ep } = await t.customer();
    for (const path of ["/app", `/app/${app}`, `/app/${app}/endpoint`, `/app/${app}/endpoint/${ep}`, `/app/${app}/msg`, "/event-type", "/background-task"]) {
      const [plain, slash] = [await t.raw("GET", `/api/v1${path}`), await t.raw("GET", `/api/v1${path}/`)];
      assert.deepEqual([slash.status, slash.text], [plain.status, plain.text], path);
    }
    assert.equal((await t.raw("POST", "/api/v1/app/", { body: { name: "x" } })).status, 201);
  });

  it("every answer has an id of the request: the caller's, or one of ours", async () => {
    const mine = await t.raw("GET", "/api/v1/app", { headers: { "X-Request-Id": "mine-1" } });
    assert.equal(mine.headers["x-request-id"], "mine-1");
    for (const [method, path] of [
      ["GET", "/app"],
      ["GET", "/app/nobody"],
      ["POST", "/app"],
      ["GET", "/health"],
    ])
      assert.ok((await t.raw(method, `/api/v1${path}`)).headers["x-request-id"], `${method} ${path}`);
  });

  it("413: the answer comes before the rest of the body", async () => {
    const app = await t.app();
    const socket = net.connect(t.server.port, "127.0.0.1");
    const head = `POST /api/v1/app/${app}/msg HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${t.server.token}\r\nContent-Length: 50000000\r\n\r\n`;
    socket.on("error", () => {});
    socket.write(head);
    socket.write(Buffer.alloc(64 * 1024, 0x20));
    let text = "";
    await new Promise((resolve, reject) => {
      socket.setTimeout(30_000, () => reject(new Error("no answer")));
      socket.on("data", (chunk) => {
        text += chunk;
        if (text.includes("}")) resolve();
      });
      socket.on("close", resolve);
    });
    socket.destroy();
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert.match(text, /payload_too_large/);
  });
});

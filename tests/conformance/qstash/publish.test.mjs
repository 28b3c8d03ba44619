// publish and publishJSON: what is accepted, how it is kept, where it goes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client, resend } from "@upstash/qstash";
import { assertRecent, later, refused, waitFor, world } from "./harness.mjs";

describe("publish", () => {
  const t = world();

  it("answers with an id and the URL, and delivers", async () => {
    const hook = t.hook();

    const answer = await t.client.publishJSON({ url: hook.url, body: { hello: "wörld" } });

    assert.match(answer.messageId, /^msg_[A-Za-z0-9_-]+$/);
    assert.equal(answer.url, hook.url);
    assert.equal("deduplicated" in answer, false);
    const request = await hook.one();
    assert.equal(request.method, "POST");
    assert.equal(request.text, '{"hello":"wörld"}');
    assert.equal(request.headers["content-type"], "application/json");
    assert.equal(request.headers["upstash-message-id"], answer.messageId);
    await t.verified(request);
  });

  it("answers 200 or 201 with JSON and a length", async () => {
    const answer = await t.raw("POST", `/v2/publish/${t.hook().url}`, { body: "x" });

    assert.ok([200, 201].includes(answer.status), `${answer.status} ${answer.text}`);
    assert.match(answer.headers["content-type"], /^application\/json/);
    assert.equal(Number(answer.headers["content-length"]), Buffer.byteLength(answer.text));
  });

  it("keeps the type that fetch gives to text, and delivers none where there is none", async () => {
    const [typed, untyped] = [t.hook(), t.hook()];

    await t.client.publish({ url: typed.url, body: "text" });
    await t.raw("POST", `/v2/publish/${untyped.url}`, { body: "text" });

    assert.equal((await typed.one()).headers["content-type"], "text/plain;charset=UTF-8");
    assert.equal("content-type" in (await untyped.one()).headers, false);
  });

  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    it(`delivers with ${method}, body included`, async () => {
      const hook = t.hook();

      const { messageId } = await t.client.publish({ url: hook.url, method, body: "b" });

      const request = await hook.one();
      assert.equal(request.method, method);
      assert.equal(request.text, "b");
      await t.verified(request);
      assert.equal((await t.client.messages.get(messageId)).method, method);
    });
  }

  it("delivers bytes as they are", async () => {
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, i) => i % 256));
    const hook = t.hook();

    const { messageId } = await t.client.publish({ url: hook.url, body: bytes });

    assert.deepEqual((await hook.one()).body, bytes);
    const message = await t.client.messages.get(messageId);
    assert.equal(message.bodyBase64, bytes.toString("base64"));
    assert.equal("body" in message, false);
  });

  it("takes a stream and an empty body", async () => {
    const [streamed, empty] = [t.hook(), t.hook()];
    const stream = new Blob(["one ", "two"]).stream();

    const answer = await fetch(`${t.server.url}/v2/publish/${streamed.url}`, {
      method: "POST",
      duplex: "half",
      body: stream,
      headers: { Authorization: `Bearer ${t.server.token}` },
    });
    const { messageId } = await t.client.publish({ url: empty.url });

    assert.equal(answer.ok, true);
    assert.equal((await streamed.one()).text, "one two");
    const request = await empty.one();
    assert.equal(request.text, "");
    await t.verified(request);
    assert.equal("body" in (await t.client.messages.get(messageId)), false);
  });

  it("forwards headers of the call and of the client, and nothing else", async () => {
    const hook = t.hook();
    const client = t.connect({
      headers: { "X-Global": "g", "X-Both": "client", Authorization: "Bearer for-the-destination" },
    });

    const { messageId } = await client.publish({
      url: hook.url,
      body: "x",
      headers: {
        "X-Both": "call",
        "x-lower": "l",
        Cookie: "a=b; c=d",
        "Content-Type": "application/x-mine",
        "Upstash-Forward-X-Prefixed": "p",
      },
    });

    const { headers } = await hook.one();
    assert.equal(headers["x-global"], "g");
    assert.equal(headers["x-both"], "call");
    assert.equal(headers["x-lower"], "l");
    assert.equal(headers["x-prefixed"], "p");
    assert.equal(headers.cookie, "a=b; c=d");
    assert.equal(headers["content-type"], "application/x-mine");
    assert.equal(headers.authorization, "Bearer for-the-destination");
    assert.deepEqual(
      Object.keys(headers).filter((name) => /telemetry|upstash-(method|forward)/.test(name)),
      [],
    );
    assert.deepEqual((await t.client.messages.get(messageId)).header, {
      Authorization: ["Bearer for-the-destination"],
      "Content-Type": ["application/x-mine"],
      Cookie: ["a=b; c=d"],
      "X-Both": ["call"],
      "X-Global": ["g"],
      "X-Lower": ["l"],
      "X-Prefixed": ["p"],
    });
  });

  it("never lets the API's token out", async () => {
    const [plain, byQuery] = [t.hook(), t.hook()];

    await t.client.publish({ url: plain.url, body: "x", headers: { "Upstash-Header-Forward": "true" } });
    const answer = await t.raw(
      "POST",
      `/v2/publish/${byQuery.url}?a=1&qstash_token=${encodeURIComponent(t.server.token)}&b=2`,
      { token: null },
    );

    assert.equal("authorization" in (await plain.one()).headers, false);
    assert.ok(answer.status < 300, answer.text);
    assert.equal((await byQuery.one()).target, `${byQuery.path}?a=1&b=2`);
  });

  it("forwards the request's own headers when it is asked to", async () => {
    const hook = t.hook();

    await t.raw("POST", `/v2/publish/${hook.url}`, {
      body: "x",
      headers: { "Upstash-Header-Forward": "true", "X-Own": "1", "Upstash-Forward-X-Two": "2", "Upstash-Unknown": "3" },
    });

    const { headers } = await hook.one();
    assert.equal(headers["x-own"], "1");
    assert.equal(headers["x-two"], "2");
    assert.equal("upstash-unknown" in headers, false);
    assert.equal("upstash-header-forward" in headers, false);
    assert.equal(headers.host, `127.0.0.1:${t.receiver.port}`);
    assert.equal(headers["content-length"], "1");
  });

  for (const [name, suffix] of [
    ["a query", "?foo=bar&x=%20y&empty=&flag"],
    ["escapes", "?u=a%2Fb%3Fc"],
    ["two slashes", "//a//b"],
    ["a comma and a semicolon", "?a=1,2;b"],
  ]) {
    it(`keeps the URL character by character: ${name}`, async () => {
      const hook = t.hook();
      if (suffix.startsWith("/")) t.receiver.hooks.set(hook.path + suffix, hook);

      const answer = await t.client.publish({ url: hook.url + suffix, body: "x" });

      assert.equal(answer.url, hook.url + suffix);
      const request = await hook.one();
      assert.equal(request.target, hook.path + suffix);
      await t.verified(request, undefined, hook.url + suffix);
      assert.equal((await t.client.messages.get(answer.messageId)).url, hook.url + suffix);
    });
  }

  it("understands destinations that proxies and tools have changed", async () => {
    const hook = t.hook();

    for (const target of [
      hook.url.replace("//", "/"),
      encodeURIComponent(hook.url),
      hook.url.replace("http", "HTTP"),
    ]) {
      const answer = await t.raw("POST", `/v2/publish/${target}`, { body: target });
      assert.ok(answer.status < 300, `${target}: ${answer.text}`);
    }

    assert.equal((await hook.wait(3)).length, 3);
  });

  it("takes options as query parameters; a header wins; none is passed on", async () => {
    const hook = t.hook();

    const target = `${hook.url}?upstash-forward-x-a=1&keep=me&upstash-retries=7&Upstash-Method=PUT&upstash-label=q`;
    const answer = await t.raw("POST", `/v2/publish/${target}`, { body: "x", headers: { "Upstash-Retries": "2" } });

    const request = await hook.one();
    assert.equal(request.target, `${hook.path}?keep=me`);
    assert.equal(request.method, "PUT");
    assert.equal(request.headers["x-a"], "1");
    const message = await t.client.messages.get(answer.json().messageId);
    assert.equal(message.maxRetries, 2);
    assert.equal(message.url, `${hook.url}?keep=me`);
    assert.deepEqual(message.labels, ["q"]);
  });

  it("waits for a delay and no longer", async () => {
    const hook = t.hook();
    const before = Date.now();

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", delay: 1 });

    const message = await t.client.messages.get(messageId);
    assert.ok(message.notBefore - message.createdAt >= 1000, JSON.stringify(message));
    assert.ok((await hook.one()).at >= before + 980);
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
  });

  for (const [text, seconds] of [
    ["10s", 10],
    ["2m", 120],
    ["3h", 10800],
    ["1d", 86400],
    ["1d10h30m", 124200],
    ["0s", 0],
    [90, 90],
  ]) {
    it(`understands the delay ${text}`, async () => {
      const { createdAt, notBefore } = await t.client.messages.get(await t.waiting({ delay: text }));

      assert.ok(Math.abs(notBefore - createdAt - seconds * 1000) < 100, `${notBefore - createdAt}`);
    });
  }

  it("takes a bare number as seconds", async () => {
    const answer = await t.raw("POST", `/v2/publish/${t.hook().url}`, { headers: { "Upstash-Delay": "3600" } });

    const { createdAt, notBefore } = await t.client.messages.get(answer.json().messageId);
    assert.ok(Math.abs(notBefore - createdAt - 3_600_000) < 100);
  });

  it("lets notBefore win over a delay; in the past it means at once", async () => {
    const seconds = Math.floor(later() / 1000);
    const past = t.hook();

    const messageId = await t.waiting({ delay: "5h", notBefore: seconds });
    await t.client.publish({ url: past.url, body: "x", notBefore: 1 });

    assert.equal((await t.client.messages.get(messageId)).notBefore, seconds * 1000);
    await past.one();
  });

  it("shows every option in the message", async () => {
    const before = Date.now();
    const messageId = await t.waiting({
      retries: 5,
      retryDelay: "1000 * (1 + retried)",
      timeout: 30,
      label: ["one", "two"],
      body: "text",
      flowControl: { key: t.name("key"), parallelism: 3, rate: 10, period: "1m" },
    });

    const message = await t.client.messages.get(messageId);

    assert.equal(message.messageId, messageId);
    assert.equal(message.url, `${t.receiver.url}/later`);
    assert.equal(message.method, "POST");
    assert.equal(message.body, "text");
    assert.equal(message.maxRetries, 5);
    assert.equal(message.retryDelayExpression, "1000 * (1 + retried)");
    assert.equal(message.label, "one");
    assert.deepEqual(message.labels, ["one", "two"]);
    assert.equal(message.parallelism, 3);
    assert.equal(message.rate, 10);
    assert.equal(message.ratePerSecond, 10);
    assert.equal(message.period, 60);
    assert.equal(message.callerIP, "127.0.0.1");
    assert.equal(message.callerIp, "127.0.0.1");
    assert.ok(message.createdAt >= before - 100);
    assertRecent(message.createdAt);
    for (const absent of [
      "bodyBase64",
      "topicName",
      "endpointName",
      "queueName",
      "scheduleId",
      "callback",
      "failureCallback",
    ]) {
      assert.equal(absent in message, false, absent);
    }
  });

  it("retries three times unless told otherwise", async () => {
    assert.equal((await t.client.messages.get(await t.waiting())).maxRetries, 3);
    assert.equal((await t.client.messages.get(await t.waiting({ retries: 0 }))).maxRetries, 0);
  });

  it("takes destinations that the client resolves from a provider", async () => {
    const mail = await t.client.publishJSON({
      api: { name: "email", provider: resend({ token: "re_1" }) },
      delay: "1h",
      body: { to: "x" },
    });

    const message = await t.client.messages.get(mail.messageId);
    assert.equal(message.url, "https://api.resend.com/emails");
    assert.deepEqual(message.header.Authorization, ["Bearer re_1"]);
    await t.client.messages.cancel(mail.messageId);
  });

  it("accepts at once what many clients send at once, and delivers each once", async () => {
    const hook = t.hook();

    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => t.client.publish({ url: hook.url, body: `${i}` })),
    );

    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 200);
    await hook.wait(200);
    await t.settle();
    assert.deepEqual(
      hook.bodies.map(Number).sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, i) => i),
    );
  });

  it("takes a base with a slash at its end", async () => {
    const hook = t.hook();
    const client = new Client({ baseUrl: `${t.server.url}/`, token: t.server.token, devMode: false, retry: false });

    await client.publish({ url: hook.url, body: "x" });

    await hook.one();
  });

  it("refuses what it does not understand, and stores nothing", async () => {
    const hook = t.hook();
    const to = (headers, body = "x") => ["POST", `/v2/publish/${hook.url}`, { headers, body }, 400];
    const at = (destination, status, pattern) => ["POST", `/v2/publish/${destination}`, { body: "x" }, status, pattern];
    await t.refusals([
      ["no destination", ...at("", 400)],
      ["no scheme", ...at("127.0.0.1:80/x", 400, /scheme|http/)],
      ["other scheme", ...at("ftp://127.0.0.1/x", 400, /scheme|http/)],
      ["mailto", ...at("mailto:a@example.com", 400)],
      ["no host", ...at("http://", 400)],
      ["port out of range", ...at("http://127.0.0.1:99999/", 400)],
      ["space in the host", ...at("http://a%20b/", 400)],
      ["unknown URL group", ...at("nobody-made-this-group", 404, /not found/)],
      ["method", ...to({ "Upstash-Method": "BREW" }), /Method/i],
      ["empty method", ...to({ "Upstash-Method": "" }), /Method/i],
      ["delay: word", ...to({ "Upstash-Delay": "soon" }), /Delay/i],
      ["delay: unit", ...to({ "Upstash-Delay": "10y" }), /Delay/i],
      ["delay: sign", ...to({ "Upstash-Delay": "-10s" }), /Delay/i],
      ["delay: empty", ...to({ "Upstash-Delay": "" }), /Delay/i],
      ["delay: space", ...to({ "Upstash-Delay": "10 s" }), /Delay/i],
      ["delay: overflow", ...to({ "Upstash-Delay": "99999999999999999999d" }), /Delay/i],
      ["not before: date", ...to({ "Upstash-Not-Before": "2030-01-01" }), /Not-Before/i],
      ["not before: negative", ...to({ "Upstash-Not-Before": "-1" }), /Not-Before/i],
      ["not before: overflow", ...to({ "Upstash-Not-Before": "99999999999999999999" }), /Not-Before/i],
      ["retries: word", ...to({ "Upstash-Retries": "many" }), /Retries/i],
      ["retries: negative", ...to({ "Upstash-Retries": "-1" }), /Retries/i],
      ["retries: fraction", ...to({ "Upstash-Retries": "1.5" }), /Retries/i],
      ["retries: too many", ...to({ "Upstash-Retries": "100000000" }), /Retries/i],
      ["retry delay: word", ...to({ "Upstash-Retry-Delay": "soon" }), /Retry-Delay/i],
      ["retry delay: unclosed", ...to({ "Upstash-Retry-Delay": "pow(2, retried" }), /Retry-Delay/i],
      ["retry delay: arity", ...to({ "Upstash-Retry-Delay": "pow(2)" }), /Retry-Delay/i],
      ["retry delay: rest", ...to({ "Upstash-Retry-Delay": "1 2" }), /Retry-Delay/i],
      ["retry delay: power", ...to({ "Upstash-Retry-Delay": "2 ** retried" }), /Retry-Delay/i],
      ["retry delay: empty", ...to({ "Upstash-Retry-Delay": "" }), /Retry-Delay/i],
      ["retry delay: too long", ...to({ "Upstash-Retry-Delay": "1+".repeat(500) + "1" }), /Retry-Delay/i],
      ["timeout: word", ...to({ "Upstash-Timeout": "long" }), /Timeout/i],
      ["timeout: beyond the maximum", ...to({ "Upstash-Timeout": "100d" }), /Timeout/i],
      ["callback: not a URL", ...to({ "Upstash-Callback": "nowhere" }), /Callback/i],
      ["failure callback: scheme", ...to({ "Upstash-Failure-Callback": "ftp://127.0.0.1/" }), /Callback/i],
      ["content-based: word", ...to({ "Upstash-Content-Based-Deduplication": "perhaps" }), /Deduplication/i],
      ["flow: key alone", ...to({ "Upstash-Flow-Control-Key": "k" }), /Flow-Control/i],
      [
        "flow: empty value",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "" }),
        /Flow-Control/i,
      ],
      [
        "flow: parallelism 0",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "parallelism=0" }),
        /Flow-Control|parallelism/i,
      ],
      [
        "flow: rate word",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "rate=fast" }),
        /Flow-Control|rate/i,
      ],
      [
        "flow: period alone",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "period=1s" }),
        /Flow-Control|rate/i,
      ],
      [
        "flow: period too long",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "rate=1, period=8d" }),
        /Flow-Control|period/i,
      ],
      [
        "flow: unknown part",
        ...to({ "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": "speed=1" }),
        /Flow-Control|speed/i,
      ],
      [
        "flow: key too long",
        ...to({ "Upstash-Flow-Control-Key": "k".repeat(300), "Upstash-Flow-Control-Value": "rate=1" }),
        /Flow-Control/i,
      ],
      ["redact", ...to({ "Upstash-Redact-Fields": "url" }), /Redact/i],
      ["redact: unclosed", ...to({ "Upstash-Redact-Fields": "header[x" }), /Redact/i],
      ["queue name", ...to({ "Upstash-Queue-Name": "a b" }), /Queue-Name/i],
      ["body too large", "POST", `/v2/publish/${hook.url}`, { body: Buffer.alloc(11 * 1024 * 1024) }, 413],
    ]);

    await t.settle();
    assert.equal(hook.requests.length, 0);
    assert.deepEqual((await t.client.logs({ filter: { url: hook.url } })).logs, []);
  });

  it("refuses through the client, too, with what the server said", async () => {
    await refused(t.client.publish({ url: "no-scheme.example.com/x", body: "" }), 400, /http/);
    await refused(t.client.publish({ urlGroup: "unknown-group", body: "" }), 404, /unknown-group/);
    await refused(t.client.publish({ url: t.hook().url, retryDelay: "nonsense(" }), 400, /Retry-Delay/i);
    await refused(t.client.publishJSON({ api: { name: "llm" }, callback: t.hook().url, body: {} }), 400);
  });

  it("still delivers after all those refusals", async () => {
    const hook = t.hook();

    await t.client.publish({ url: hook.url, body: "x" });

    await waitFor(() => hook.requests.length === 1, "the delivery");
  });
});

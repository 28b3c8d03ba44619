// batch and batchJSON: many messages in one request.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, world } from "./harness.mjs";

describe("batch", () => {
  const t = world();

  const post = (body, headers = {}) =>
    t.raw("POST", "/v2/batch", { body, headers: { "Content-Type": "application/json", ...headers } });

  it("answers in the order of the items and delivers each with its own options", async () => {
    const [one, two] = [t.hook(), t.hook()];

    const answers = await t.client.batch([
      { url: one.url, body: "first", method: "PUT", headers: { "X-One": "1" }, retries: 5 },
      { url: two.url, body: "second", headers: { "Content-Type": "a/b" }, label: ["x", "y"] },
    ]);

    assert.equal(answers.length, 2);
    assert.deepEqual(
      answers.map(({ url }) => url),
      [one.url, two.url],
    );
    const [first, second] = [await one.one(), await two.one()];
    assert.equal(first.method, "PUT");
    assert.equal(first.text, "first");
    assert.equal(first.headers["x-one"], "1");
    assert.equal(first.headers["upstash-message-id"], answers[0].messageId);
    assert.equal(second.method, "POST");
    assert.equal(second.headers["content-type"], "a/b");
    assert.equal("x-one" in second.headers, false);
    assert.equal(second.headers["upstash-message-id"], answers[1].messageId);
    await t.verified(first);
    await t.verified(second);
    assert.equal((await t.client.messages.get(answers[0].messageId)).maxRetries, 5);
    assert.deepEqual((await t.client.messages.get(answers[1].messageId)).labels, ["x", "y"]);
  });

  it("delivers header values beyond ASCII byte for byte, and shows them", async () => {
    const [hook, raw] = [t.hook(), t.hook()];
    const utf8 = (request) => Buffer.from(request.headers["x-name"], "latin1").toString("utf8");

    // The client lets letters of Latin-1 pass; in a batch they travel as JSON.
    const [{ messageId }] = await t.client.batch([{ url: hook.url, body: "x", headers: { "X-Name": "Zoë Müller" } }]);
    const name = "zażółć ☕ 😀";
    const item = { destination: raw.url, headers: { "Upstash-Forward-X-Name": name } };
    const answer = await post(JSON.stringify([item]));

    assert.equal(utf8(await hook.one()), "Zoë Müller");
    assert.deepEqual((await t.client.messages.get(messageId)).header["X-Name"], ["Zoë Müller"]);
    assert.equal(utf8(await raw.one()), name);
    assert.deepEqual((await t.client.messages.get(answer.json()[0].messageId)).header["X-Name"], [name]);
  });

  it("writes bodies as JSON with batchJSON, and takes the client's own headers", async () => {
    const hook = t.hook();

    await t.connect({ headers: { "X-Global": "g" } }).batchJSON([
      { url: hook.url, body: { a: 1 } },
      { url: hook.url, body: "text" },
    ]);

    const requests = await hook.wait(2);
    assert.deepEqual(requests.map(({ text }) => text).sort(), ['"text"', '{"a":1}']);
    for (const { headers } of requests) {
      assert.equal(headers["content-type"], "application/json");
      assert.equal(headers["x-global"], "g");
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.includes("telemetry")),
        [],
      );
    }
  });

  it("answers with an array for one item and for none", async () => {
    const one = await post([{ destination: t.hook().url, body: "x" }]);

    assert.equal(one.status, 200);
    assert.equal(one.json().length, 1);
    assert.deepEqual((await post([])).json(), []);
  });

  it("takes what other clients send: null, empty text, lists, any letter case", async () => {
    const hook = t.hook();

    const answer = await post([
      { destination: hook.url, headers: null, body: null, queue: null },
      {
        destination: hook.url,
        headers: { "UPSTASH-METHOD": "PUT", "upstash-forward-x-list": ["a"] },
        body: "",
        queue: "",
      },
      { destination: hook.url },
      { destination: `${hook.url}?keep=1&upstash-like=2`, headers: {}, body: "ünïcode" },
    ]);

    assert.equal(answer.status, 200);
    assert.equal(answer.json().filter(({ messageId }) => messageId).length, 4, answer.text);
    const requests = await hook.wait(4);
    assert.deepEqual(requests.map(({ text }) => text).sort(), ["", "", "", "ünïcode"]);
    const put = requests.find(({ method }) => method === "PUT");
    assert.equal(put.headers["x-list"], "a");
  });

  it("does not apply the headers of the request itself to the items", async () => {
    const hook = t.hook();

    const answer = await post([{ destination: hook.url, body: "x" }], {
      "Upstash-Forward-X-Outer": "1",
      "Upstash-Retries": "9",
      "Upstash-Method": "PUT",
    });

    const request = await hook.one();
    assert.equal(request.method, "POST");
    assert.equal("x-outer" in request.headers, false);
    assert.equal("content-type" in request.headers, false);
    assert.equal((await t.client.messages.get(answer.json()[0].messageId)).maxRetries, 3);
  });

  it("enqueues in the order of the array", async () => {
    const hook = t.hook();
    const queueName = t.name("queue");

    const answers = await t.client.batch(
      Array.from({ length: 10 }, (_, i) => ({ url: hook.url, body: `${i}`, queueName })),
    );

    await hook.wait(10);
    assert.deepEqual(
      hook.bodies,
      Array.from({ length: 10 }, (_, i) => `${i}`),
    );
    assert.equal((await t.client.messages.get(answers[0].messageId)).queueName, queueName);
  });

  it("fans out to a URL group and answers with a nested array", async () => {
    const [a, b, plain] = [t.hook(), t.hook(), t.hook()];
    const name = t.name("group");
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a.url }, { url: b.url }] });

    const [group, single] = await t.client.batch([
      { urlGroup: name, body: "g" },
      { url: plain.url, body: "p" },
    ]);

    assert.deepEqual(
      group.map(({ url }) => url),
      [a.url, b.url],
    );
    assert.equal(single.url, plain.url);
    for (const hook of [a, b, plain]) await hook.one();
  });

  it("deduplicates inside and between batches", async () => {
    const hook = t.hook();
    const item = { url: hook.url, body: "x", deduplicationId: t.name("dedup") };

    const [first, second] = await t.client.batch([item, item]);
    const [third] = await t.client.batch([item]);

    assert.equal(second.messageId, first.messageId);
    assert.equal("deduplicated" in first, false);
    assert.equal(second.deduplicated, true);
    assert.equal(third.deduplicated, true);
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);
  });

  it("accepts the others when an item is wrong", async () => {
    const hook = t.hook();
    const bad = [
      { destination: "no-scheme.example.com/x" },
      { destination: "" },
      { destination: hook.url, headers: { "upstash-retries": "many" } },
      { destination: hook.url, queue: "a b" },
      { destination: hook.url, queue: "q", headers: { "upstash-delay": "1s" } },
      { destination: "no-such-group" },
    ];

    const answer = await post([...bad, { destination: hook.url, body: "good" }]);

    assert.equal(answer.status, 200, answer.text);
    const results = answer.json();
    assert.equal(results.length, bad.length + 1);
    for (const [index, item] of bad.entries()) {
      assert.equal(typeof results[index].error, "string", JSON.stringify([item, results[index]]));
      assert.equal("messageId" in results[index], false);
    }
    assert.match(results.at(-1).messageId, /^msg_/);
    await hook.one();
    await t.settle();
    assert.deepEqual(hook.bodies, ["good"]);
  });

  it("takes a thousand items", async () => {
    const hook = t.hook();

    const answers = await t.client.batch(Array.from({ length: 1000 }, (_, i) => ({ url: hook.url, body: `${i}` })));

    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 1000);
    await hook.wait(1000);
    assert.equal(new Set(hook.bodies).size, 1000);
  });

  it("needs the token", async () => {
    await t.needToken(["POST", "/v2/batch"]);
  });

  it("refuses a body that is not a batch", async () => {
    const row = (name, body) => [
      name,
      "POST",
      "/v2/batch",
      { body, headers: { "Content-Type": "application/json" } },
      400,
    ];
    await t.refusals([
      row("no body", ""),
      row("not JSON", "hello"),
      row("half an array", '[{"destination":"http://127.0.0.1/"}'),
      row("an object", '{"destination":"http://127.0.0.1/"}'),
      row("null", "null"),
      row("text", '"x"'),
      row("a number", "1"),
      row("bytes", Buffer.from([0xff, 0xfe])),
      row("deep", "[".repeat(10_000)),
    ]);
    await refused(t.client.http.request({ method: "POST", path: ["v2", "batch"], body: "{}" }), 400);
  });

  it("refuses items of the wrong shape one way or the other, and stores none of them", async () => {
    const { url } = t.hook();
    for (const item of [
      1,
      null,
      "x",
      [],
      {},
      { destination: 1 },
      { destination: url, headers: "x" },
      { destination: url, headers: { a: 1 } },
      { destination: url, headers: { a: {} } },
      { destination: url, body: 5 },
      { destination: url, body: {} },
      { destination: url, queue: 7 },
    ]) {
      const answer = await post([item]);
      const text = JSON.stringify(item);
      if (answer.status === 200) assert.equal(typeof answer.json()[0].error, "string", `${text}: ${answer.text}`);
      else assert.equal(answer.status, 400, `${text}: ${answer.text}`);
    }
    assert.deepEqual((await t.client.logs({ filter: { url } })).logs, []);
  });
});

describe("batch to a forbidden destination", () => {
  const t = world({ dev: false, token: "chosen", flags: ["--token", "chosen"] });

  it("refuses the item, or fails it without ever connecting", async () => {
    const hook = t.hook();

    const [answer] = await t.client.batch([{ url: hook.url, body: "x", retries: 0 }]);

    if (answer.messageId) assert.equal((await t.waitDeadLetter(answer.messageId)).responseStatus, 0);
    else assert.equal(typeof answer.error, "string");
    assert.equal(hook.requests.length, 0);
  });
});

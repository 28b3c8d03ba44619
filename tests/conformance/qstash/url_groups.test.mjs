// URL groups (once called topics): one message for each endpoint.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, refused, world } from "./harness.mjs";

describe("URL groups", () => {
  const t = world();

  /** A group of new hooks. */
  async function group(count, ...answers) {
    const name = t.name("group");
    const hooks = Array.from({ length: count }, () => t.hook(...answers));
    await t.client.urlGroups.addEndpoints({ name, endpoints: hooks.map(({ url }) => ({ url })) });
    return { name, hooks };
  }

  it("are created by their first endpoints, shown, listed and deleted", async () => {
    const name = t.name("group");
    await t.client.urlGroups.addEndpoints({
      name,
      endpoints: [{ url: "http://127.0.0.1/a", name: "one" }, { url: "http://127.0.0.1/b" }],
    });

    const shown = await t.client.urlGroups.get(name);
    assert.equal(shown.name, name);
    assert.deepEqual(shown.endpoints, [{ name: "one", url: "http://127.0.0.1/a" }, { url: "http://127.0.0.1/b" }]);
    assertRecent(shown.createdAt);
    assertRecent(shown.updatedAt);
    assert.deepEqual(
      (await t.client.urlGroups.list()).find((one) => one.name === name),
      shown,
    );

    await t.client.urlGroups.delete(name);
    await refused(t.client.urlGroups.get(name), 404);
    assert.equal(
      (await t.client.topics.list()).some((one) => one.name === name),
      false,
    );
    await t.client.urlGroups.delete(name);
  });

  it("list as an empty array when there are none", async () => {
    for (const { name } of await t.client.urlGroups.list()) await t.client.urlGroups.delete(name);

    assert.deepEqual(await t.client.urlGroups.list(), []);
  });

  it("add, change and remove endpoints", async () => {
    const name = t.name("group");
    const [a, b, c] = ["a", "b", "c"].map((path) => `http://127.0.0.1/${path}`);
    const endpoints = async () => (await t.client.urlGroups.get(name)).endpoints;
    await t.client.urlGroups.addEndpoints({
      name,
      endpoints: [
        { url: a, name: "one" },
        { url: b, name: "two" },
      ],
    });

    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: c, name: "one" }] });
    assert.deepEqual(await endpoints(), [
      { name: "one", url: c },
      { name: "two", url: b },
    ]);
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: b, name: "zwei" }] });
    assert.deepEqual(await endpoints(), [
      { name: "one", url: c },
      { name: "zwei", url: b },
    ]);
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a }, { url: a }] });
    assert.deepEqual(
      (await endpoints()).map(({ url }) => url),
      [c, b, a],
    );
    await t.client.urlGroups.removeEndpoints({
      name,
      endpoints: [{ name: "one" }, { url: a }, { url: "http://127.0.0.1/unknown" }],
    });
    assert.deepEqual(await endpoints(), [{ name: "zwei", url: b }]);
    await t.client.urlGroups.removeEndpoints({ name, endpoints: [{ url: b }] });
    await refused(t.client.urlGroups.get(name), 404);
  });

  it("deliver to each endpoint, with an id for each, in the group's order", async () => {
    const name = t.name("group");
    const [a, b] = [t.hook(), t.hook()];
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a.url, name: "first" }, { url: b.url }] });

    const answers = await t.client.publishJSON({ urlGroup: name, body: { to: "all" }, headers: { "X-A": "1" } });

    assert.deepEqual(
      answers.map(({ url }) => url),
      [a.url, b.url],
    );
    assert.notEqual(answers[0].messageId, answers[1].messageId);
    for (const [hook, { messageId }] of [
      [a, answers[0]],
      [b, answers[1]],
    ]) {
      const request = await hook.one();
      assert.equal(request.text, '{"to":"all"}');
      assert.equal(request.headers["x-a"], "1");
      assert.equal(request.headers["upstash-topic-name"], name);
      assert.equal(request.headers["upstash-message-id"], messageId);
      await t.verified(request);
      const message = await t.client.messages.get(messageId);
      assert.equal(message.topicName, name);
      assert.equal(message.urlGroup, name);
    }
    assert.equal((await t.client.messages.get(answers[0].messageId)).endpointName, "first");
    assert.equal("endpointName" in (await t.client.messages.get(answers[1].messageId)), false);
  });

  it("are found under their old name and ignore a query", async () => {
    const { name, hooks } = await group(1);

    await t.client.publish({ topic: name, body: "old" });
    const answer = await t.raw("POST", `/v2/publish/${name}?ignored=1`, { body: "query" });

    assert.ok(answer.status < 300, answer.text);
    const requests = await hooks[0].wait(2);
    assert.deepEqual(
      requests.map(({ target }) => target),
      [hooks[0].path, hooks[0].path],
    );
  });

  it("retry and fail one by one", async () => {
    const name = t.name("group");
    const [good, bad] = [t.hook(), t.hook(500)];
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: good.url }, { url: bad.url, name: "bad" }] });

    const [, failing] = await t.client.publish({ urlGroup: name, body: "x", retries: 1, retryDelay: "1" });

    const entry = await t.waitDeadLetter(failing.messageId);
    assert.equal(entry.topicName, name);
    assert.equal(entry.urlGroup, name);
    assert.equal(entry.endpointName, "bad");
    assert.equal(bad.requests.length, 2);
    assert.equal(good.requests.length, 1);
    assert.deepEqual(
      (await t.client.dlq.listMessages({ filter: { urlGroup: name } })).messages.map(({ dlqId }) => dlqId),
      [entry.dlqId],
    );
    assert.deepEqual((await t.client.dlq.listMessages({ filter: { urlGroup: "other" } })).messages, []);
  });

  it("are a filter of the log", async () => {
    const { name, hooks } = await group(2);
    const answers = await t.client.publish({ urlGroup: name, body: "x" });
    for (const { messageId } of answers) await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");

    const { logs } = await t.client.logs({ filter: { urlGroup: name } });

    assert.equal(logs.length, 3 * hooks.length);
    for (const entry of logs) assert.equal(entry.urlGroup, name);
  });

  it("deduplicate for each endpoint", async () => {
    const { name, hooks } = await group(1);
    const extra = t.hook();
    const request = { urlGroup: name, body: "x", deduplicationId: t.name("dedup") };

    const [first] = await t.client.publish(request);
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: extra.url }] });
    const [old, fresh] = await t.client.publish(request);
    const all = await t.raw("POST", `/v2/publish/${name}`, {
      body: "x",
      headers: { "Upstash-Deduplication-Id": request.deduplicationId },
    });

    assert.equal(old.messageId, first.messageId);
    assert.equal(old.deduplicated, true);
    assert.equal("deduplicated" in fresh, false);
    assert.equal(all.status, 202);
    await extra.one();
    await t.settle();
    assert.equal(hooks[0].requests.length, 1);
  });

  it("do not touch messages that were there before a change", async () => {
    const { name, hooks } = await group(1);
    const [{ messageId }] = await t.client.publish({ urlGroup: name, body: "x", delay: "1s" });

    await t.client.urlGroups.delete(name);

    await hooks[0].one();
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
  });

  it("give default options to what is published to them", async () => {
    const { name, hooks } = await group(1);
    const patch = (headers) => t.raw("PATCH", `/v2/topics/${name}`, { body: { headers } });

    assert.equal((await patch({ "Upstash-Retries": "7", "Upstash-Method": ["PUT"] })).status, 200);
    const [usual] = await t.client.http.request({ method: "POST", path: ["v2", "publish", name], body: "x" });
    const [own] = await t.client.publish({ urlGroup: name, body: "x", retries: 1 });

    assert.equal((await t.client.messages.get(usual.messageId)).maxRetries, 7);
    assert.equal((await t.client.messages.get(own.messageId)).maxRetries, 1);
    assert.deepEqual((await hooks[0].wait(2)).map(({ method }) => method).sort(), ["POST", "PUT"]);
    await patch({ "Upstash-Timeout": "10s" });
    const [replaced] = await t.client.http.request({ method: "POST", path: ["v2", "publish", name], body: "x" });
    assert.equal((await t.client.messages.get(replaced.messageId)).maxRetries, 3);
  });

  it("need the token", async () => {
    const { name } = await group(1);

    await t.needToken(
      ["GET", "/v2/topics"],
      ["GET", `/v2/topics/${name}`],
      ["DELETE", `/v2/topics/${name}`],
      ["PATCH", `/v2/topics/${name}`],
      ["POST", `/v2/topics/${name}/endpoints`],
      ["DELETE", `/v2/topics/${name}/endpoints`],
    );

    assert.equal((await t.client.urlGroups.get(name)).endpoints.length, 1);
  });

  it("are refused when they make no sense", async () => {
    const { name } = await group(1);
    const json = { "Content-Type": "application/json" };
    const add = (what, body, target = "bad-group") => [
      `add: ${what}`,
      "POST",
      `/v2/topics/${target}/endpoints`,
      { body, headers: json },
      400,
    ];
    const patch = (what, body) => [`patch: ${what}`, "PATCH", `/v2/topics/${name}`, { body, headers: json }, 400];
    await t.refusals([
      add("no body", ""),
      add("not JSON", "x"),
      add("null", "null"),
      add("an array", "[]"),
      add("no endpoints", {}),
      add("endpoints: text", { endpoints: "x" }),
      add("endpoint: text", { endpoints: ["http://127.0.0.1/"] }),
      add("no url", { endpoints: [{ name: "x" }] }),
      add("url: number", { endpoints: [{ url: 1 }] }),
      add("url: empty", { endpoints: [{ url: "" }] }),
      add("no scheme", { endpoints: [{ url: "127.0.0.1/x" }] }),
      add("ftp", { endpoints: [{ url: "ftp://127.0.0.1/" }] }),
      add("no host", { endpoints: [{ url: "http://" }] }),
      add("one of two", { endpoints: [{ url: "http://127.0.0.1/" }, { url: "nope" }] }),
      add("name: number", { endpoints: [{ url: "http://127.0.0.1/", name: 1 }] }),
      add("group name", { endpoints: [{ url: "http://127.0.0.1/" }] }, "a%20b"),
      ["get unknown", "GET", "/v2/topics/nobody", {}, 404],
      [
        "remove from unknown",
        "DELETE",
        "/v2/topics/nobody/endpoints",
        { body: { endpoints: [{ url: "http://127.0.0.1/" }] }, headers: json },
        404,
      ],
      ["remove: no body", "DELETE", `/v2/topics/${name}/endpoints`, { headers: json }, 400],
      patch("not JSON", "x"),
      patch("headers: text", { headers: "x" }),
      patch("value: number", { headers: { "Upstash-Retries": 3 } }),
      patch("bad option", { headers: { "Upstash-Retries": "many" } }),
      ["publish to unknown", "POST", "/v2/publish/nobody", { body: "x" }, 404, /nobody not found|not found/],
      ["method", "PUT", `/v2/topics/${name}`, {}, 405],
    ]);
    await refused(t.client.urlGroups.get("bad-group"), 404);
  });
});

describe("URL groups with forbidden endpoints", () => {
  const t = world({ dev: false, token: "chosen", flags: ["--token", "chosen"] });

  it("are refused, or their messages fail without ever connecting", async () => {
    const hook = t.hook();
    const endpoints = [{ url: hook.url }];
    const added = await t.raw("POST", "/v2/topics/forbidden/endpoints", { body: { endpoints } });

    if (added.status < 300) {
      const [answer] = await t.client.publish({ urlGroup: "forbidden", body: "x", retries: 0 });
      assert.equal((await t.waitDeadLetter(answer.messageId)).responseStatus, 0);
    } else {
      assert.equal(added.status, 400);
    }
    assert.equal(hook.requests.length, 0);
  });
});

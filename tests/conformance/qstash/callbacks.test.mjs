// Callbacks: messages that tell how another message fared.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { custom } from "@upstash/qstash";
import { assertRecent, base64, refused, unbase64, waitFor, world } from "./harness.mjs";

describe("callbacks", () => {
  const t = world();

  const json = (request) => JSON.parse(request.text);

  it("tell of a success", async () => {
    const hook = t.hook({ status: 201, headers: { "X-Answer": "yes" }, body: "thänks" });
    const callback = t.hook();

    const { messageId } = await t.client.publish({
      url: `${hook.url}?a=b`,
      method: "PUT",
      body: "question",
      headers: { "X-Ask": "1", "Content-Type": "a/b" },
      callback: `${callback.url}?c=d`,
    });

    const request = await callback.one();
    assert.equal(request.method, "POST");
    assert.equal(request.target, `${callback.path}?c=d`);
    assert.equal(request.headers["content-type"], "application/json");
    assert.equal("x-ask" in request.headers, false);
    assert.notEqual(request.headers["upstash-message-id"], messageId);
    await t.verified(request);
    const body = json(request);
    assert.equal(body.status, 201);
    assert.deepEqual(body.header["X-Answer"], ["yes"]);
    assert.equal(unbase64(body.body), "thänks");
    assert.equal(body.retried, 0);
    assert.equal(body.maxRetries, 3);
    assert.equal(body.sourceMessageId, messageId);
    assert.equal(body.url, `${hook.url}?a=b`);
    assert.equal(body.method, "PUT");
    assert.equal(body.sourceBody, base64("question"));
    assert.deepEqual(body.sourceHeader["X-Ask"], ["1"]);
    assert.deepEqual(body.sourceHeader["Content-Type"], ["a/b"]);
    assertRecent(body.createdAt);
    assertRecent(body.notBefore);
    assert.equal(body.callerIP, "127.0.0.1");
    for (const absent of ["dlqId", "topicName", "scheduleId", "endpointName"])
      assert.equal(absent in body, false, absent);
    assert.equal(callback.requests.length, 1);
  });

  it("tell of every attempt", async () => {
    const hook = t.hook(500, 503, 200);
    const [callback, failure] = [t.hook(), t.hook()];

    await t.client.publish({
      url: hook.url,
      body: "x",
      retries: 5,
      retryDelay: "1",
      callback: callback.url,
      failureCallback: failure.url,
    });

    const told = (await callback.wait(3)).map(json).sort((a, b) => a.retried - b.retried);
    assert.deepEqual(
      told.map(({ status, retried, maxRetries }) => [status, retried, maxRetries]),
      [
        [500, 0, 5],
        [503, 1, 5],
        [200, 2, 5],
      ],
    );
    await t.settle();
    assert.equal(callback.requests.length, 3);
    assert.equal(failure.requests.length, 0);
  });

  it("tell of the final failure once, with the dead letter's id", async () => {
    const hook = t.hook({ status: 500, body: "no" });
    const [callback, failure] = [t.hook(), t.hook()];

    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "x",
      retries: 1,
      retryDelay: "1",
      callback: callback.url,
      failureCallback: failure.url,
    });

    const body = json(await failure.one());
    const { dlqId } = await t.waitDeadLetter(messageId);
    assert.equal(body.dlqId, dlqId);
    assert.equal(body.status, 500);
    assert.equal(body.retried, 1);
    assert.equal(body.maxRetries, 1);
    assert.equal(body.sourceMessageId, messageId);
    assert.equal(unbase64(body.body), "no");
    await t.verified(failure.requests[0]);
    assert.equal(
      (await callback.wait(2)).map(json).some((one) => "dlqId" in one),
      false,
    );
    await t.settle();
    assert.equal(failure.requests.length, 1);
  });

  it("tell of a failure that left no retries, and of one without an answer", async () => {
    const hook = t.hook({ status: 489, headers: { "Upstash-NonRetryable-Error": "true" } });
    const [final, broken] = [t.hook(), t.hook()];

    await t.client.publish({ url: hook.url, body: "x", retries: 5, failureCallback: final.url });
    await t.client.publish({ url: "http://127.0.0.1:1/", body: "x", retries: 0, failureCallback: broken.url });

    assert.equal(json(await final.one()).status, 489);
    assert.equal(json(await broken.one()).status, 0);
  });

  it("tell of GET, of bytes, and of nothing", async () => {
    const bytes = Buffer.from([0, 255, 128]);
    const [binary, empty] = [t.hook({ status: 200, body: bytes }), t.hook({ status: 204 })];
    const callback = t.hook();

    await t.client.publish({ url: binary.url, body: bytes, callback: callback.url });
    const told = json(await callback.one());
    await t.client.publish({ url: empty.url, method: "GET", callback: callback.url });
    const nothing = json((await callback.wait(2))[1]);

    assert.equal(told.body, base64(bytes));
    assert.equal(told.sourceBody, base64(bytes));
    assert.equal(nothing.method, "GET");
    assert.equal(nothing.body ?? "", "");
    assert.equal(nothing.sourceBody ?? "", "");
  });

  it("have options and headers of their own", async () => {
    const hook = t.hook(200);
    const callback = t.hook(500, 500, 200);

    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "x",
      callback: callback.url,
      failureCallback: `${callback.url}?failed`,
      headers: {
        "Upstash-Callback-Method": "PUT",
        "Upstash-Callback-Retries": "2",
        "Upstash-Callback-Retry-Delay": "1",
        "Upstash-Callback-Timeout": "30",
        "Upstash-Callback-Forward-X-Callback": "c",
        "Upstash-Failure-Callback-Forward-X-Failure": "f",
      },
    });

    const requests = await callback.wait(3);
    for (const [index, request] of requests.entries()) {
      assert.equal(request.method, "PUT");
      assert.equal(request.headers["x-callback"], "c");
      assert.equal("x-failure" in request.headers, false);
      assert.equal(request.headers["upstash-retried"], `${index}`);
    }
    const { headers } = await hook.one();
    assert.deepEqual(
      Object.keys(headers).filter((name) => /callback|failure/.test(name)),
      [],
    );
    const message = await t.client.messages.get(messageId);
    assert.equal(message.callback, callback.url);
    assert.equal(message.failureCallback, `${callback.url}?failed`);
    assert.deepEqual(message.callbackHeader["X-Callback"], ["c"]);
    assert.deepEqual(message.failureCallbackHeader["X-Failure"], ["f"]);
    const [created] = await t.log(messageId);
    assert.equal(created.callback, callback.url);
    assert.deepEqual(created.callbackHeaders["X-Callback"], ["c"]);
  });

  it("take the retries of their source, and become dead letters", async () => {
    const callback = t.hook(500);

    await t.client.publish({
      url: t.hook().url,
      body: "x",
      retries: 1,
      callback: callback.url,
      headers: { "Upstash-Callback-Retry-Delay": "1" },
    });

    const { headers } = (await callback.wait(2))[0];
    const entry = await t.waitDeadLetter(headers["upstash-message-id"]);
    assert.equal(entry.url, callback.url);
    assert.equal(entry.maxRetries, 1);
    assert.equal("callback" in entry, false);
    await t.waitStates(entry.messageId, "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "FAILED");
  });

  it("wait for a delay of their own", async () => {
    const callback = t.hook();

    await t.client.publish({
      url: t.hook().url,
      body: "x",
      callback: callback.url,
      headers: { "Upstash-Callback-Delay": "1s" },
    });

    const { headers } = await callback.one();
    const { createdAt, notBefore } = await t.client.messages.get(headers["upstash-message-id"]);
    assert.ok(notBefore - createdAt >= 1000, `${notBefore - createdAt}`);
  });

  it("hold the next message of a queue back", async () => {
    const hook = t.hook();
    const callback = t.hook().hold();
    const queue = t.client.queue({ queueName: t.name("queue") });

    for (const body of ["1", "2"]) await queue.enqueue({ url: hook.url, body, callback: callback.url });
    await callback.one();
    await t.settle();
    assert.deepEqual(hook.bodies, ["1"]);

    callback.release();
    await hook.wait(2);
  });

  it("hold it back over their retries and for failures, too", async () => {
    const hook = t.hook(500, 200);
    const failure = t.hook(500, 200);
    const queue = t.client.queue({ queueName: t.name("queue") });
    const headers = { "Upstash-Failure-Callback-Retry-Delay": "300" };

    await queue.enqueue({
      url: hook.url,
      body: "1",
      retries: 0,
      failureCallback: failure.url,
      headers: { ...headers, "Upstash-Failure-Callback-Retries": "1" },
    });
    await queue.enqueue({ url: hook.url, body: "2", retries: 0 });

    const [, second] = await hook.wait(2);
    const [, retried] = await failure.wait(2);
    assert.ok(second.at >= retried.at, "the second message came before the failure callback was through");
  });

  it("come from a batch, a group, and a provider", async () => {
    const [callback, a, b] = [t.hook(), t.hook(), t.hook()];
    const name = t.name("group");
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a.url, name: "first" }] });
    t.receiver.hooks.set(`${b.path}/v1/chat/completions`, b);

    await t.client.batch([{ urlGroup: name, body: "x", callback: callback.url }]);
    const group = json(await callback.one());
    await t.client.publishJSON({
      api: { name: "llm", provider: custom({ baseUrl: b.url, token: "secret" }) },
      body: { model: "m" },
      callback: callback.url,
    });

    assert.equal(group.topicName, name);
    assert.equal(group.endpointName, "first");
    assert.equal((await b.one()).headers.authorization, "Bearer secret");
    assert.equal(json((await callback.wait(2))[1]).url, `${b.url}/v1/chat/completions`);
  });

  it("come again for a dead letter that is retried", async () => {
    const hook = t.hook(500, 200);
    const callback = t.hook();
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 0, callback: callback.url });
    const { dlqId } = await t.waitDeadLetter(messageId);

    const {
      responses: [retried],
    } = await t.client.dlq.retry(dlqId);

    await waitFor(
      () =>
        callback.requests.some(
          (request) => json(request).sourceMessageId === retried.messageId && json(request).status === 200,
        ),
      "the callback of the retry",
    );
  });

  it("are refused when they make no sense", async () => {
    const hook = t.hook();
    const good = { "Upstash-Callback": t.hook().url, "Upstash-Failure-Callback": t.hook().url };
    const row = (name, headers, pattern = /callback/i) => [
      name,
      "POST",
      `/v2/publish/${hook.url}`,
      { body: "x", headers },
      400,
      pattern,
    ];
    await t.refusals([
      row("no URL", { "Upstash-Callback": "nowhere" }),
      row("scheme", { "Upstash-Callback": "ftp://127.0.0.1/" }),
      row("empty", { "Upstash-Callback": "" }),
      row("failure: no URL", { "Upstash-Failure-Callback": "nowhere" }),
      row("failure: no host", { "Upstash-Failure-Callback": "http://" }),
      row("retries", { ...good, "Upstash-Callback-Retries": "x" }),
      row("method", { ...good, "Upstash-Callback-Method": "BREW" }),
      row("timeout", { ...good, "Upstash-Callback-Timeout": "x" }),
      row("retry delay", { ...good, "Upstash-Callback-Retry-Delay": "x(" }),
      row("delay", { ...good, "Upstash-Callback-Delay": "soon" }),
      row("failure: retries", { ...good, "Upstash-Failure-Callback-Retries": "-1" }),
      [
        "delay on a queue",
        "POST",
        `/v2/enqueue/q/${hook.url}`,
        { body: "x", headers: { ...good, "Upstash-Callback-Delay": "1s" } },
        400,
        /callback/i,
      ],
    ]);
    await refused(t.client.publish({ url: hook.url, callback: "not a url" }), 400, /callback/i);
    await t.settle();
    assert.equal(hook.requests.length, 0);
  });
});

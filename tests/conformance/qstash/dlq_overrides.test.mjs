// A dead letter that is retried with other options.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { world } from "./harness.mjs";

describe("DLQ retry with overrides", () => {
  const t = world();

  const retry = async (dlqId, headers, path = `/v2/dlq/retry/${dlqId}`) => {
    const answer = await t.raw("POST", path, { headers });
    assert.equal(answer.status, 201, answer.text);
    const { messageId, responses } = answer.json();
    return messageId ?? responses[0].messageId;
  };

  it("takes the options of the call and keeps the others", async () => {
    const hook = t.hook(500, 200);
    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "b",
      retries: 0,
      label: "old",
      headers: { "X-A": "1" },
      retryDelay: "5",
    });
    const { dlqId } = await t.waitDeadLetter(messageId);

    const again = await retry(dlqId, {
      "Upstash-Retries": "7",
      "Upstash-Label": "new",
      "Upstash-Method": "PUT",
      "Upstash-Timeout": "9s",
    });

    const [, request] = await hook.wait(2);
    assert.equal(request.method, "PUT");
    assert.equal(request.text, "b");
    assert.equal(request.headers["x-a"], "1");
    const message = await t.client.messages.get(again);
    assert.equal(message.maxRetries, 7);
    assert.deepEqual(message.labels, ["new"]);
    assert.equal(message.retryDelayExpression, "5");
  });

  it("works on several, too", async () => {
    const entries = [await t.deadLetter({ body: "1" }), await t.deadLetter({ body: "2" })];

    const answer = await t.raw("POST", `/v2/dlq/retry?dlqIds=${entries[0].dlqId}&dlqIds=${entries[1].dlqId}`, {
      headers: { "Upstash-Retries": "4", "Upstash-Delay": "1h" },
    });

    assert.equal(answer.status, 201, answer.text);
    for (const { messageId } of answer.json().responses) {
      const message = await t.client.messages.get(messageId);
      assert.equal(message.maxRetries, 4);
      assert.ok(message.notBefore - message.createdAt > 3_599_000);
    }
  });

  it("changes forwarded headers and the flow control", async () => {
    const { dlqId } = await t.deadLetter({ body: "x", headers: { "X-A": "old", "X-B": "kept" } });

    const again = await retry(dlqId, {
      "Upstash-Forward-X-A": "new",
      "Upstash-Delay": "1h",
      "Upstash-Flow-Control-Key": "over",
      "Upstash-Flow-Control-Value": "parallelism=2",
    });

    const message = await t.client.messages.get(again);
    assert.deepEqual(message.header["X-A"], ["new"]);
    assert.deepEqual(message.header["X-B"], ["kept"]);
    assert.equal(message.flowControlKey, "over");
  });

  it("refuses options that make no sense, and keeps the entry", async () => {
    const { dlqId } = await t.deadLetter({ body: "x" });
    const row = (name, headers) => [name, "POST", `/v2/dlq/retry/${dlqId}`, { headers }, 400];
    await t.refusals([
      row("retries", { "Upstash-Retries": "x" }),
      row("method", { "Upstash-Method": "BREW" }),
      row("delay", { "Upstash-Delay": "soon" }),
      row("timeout", { "Upstash-Timeout": "x" }),
      row("flow", { "Upstash-Flow-Control-Key": "k" }),
      row("retry delay", { "Upstash-Retry-Delay": "(" }),
      ["several", "POST", `/v2/dlq/retry?dlqIds=${dlqId}`, { headers: { "Upstash-Retries": "x" } }, 400],
    ]);
    assert.equal((await t.raw("GET", `/v2/dlq/${dlqId}`)).status, 200);
  });

  it("takes another body and URL for one entry, and leaves the client's own retry as it is", async () => {
    const old = t.hook(500);
    const { messageId } = await t.client.publish({ url: old.url, body: "broken", retries: 0, headers: { "X-A": "1" } });
    const { dlqId } = await t.waitDeadLetter(messageId);
    const hook = t.hook();

    const answer = await t.raw("POST", `/v2/dlq/retry/${dlqId}`, {
      body: '{"mended":true}',
      headers: {
        "Hikyaku-Replace-Body": "true",
        "Hikyaku-Replace-Url": hook.url,
        "Upstash-Forward-Content-Type": "application/json",
      },
    });

    assert.equal(answer.status, 201, answer.text);
    const request = await hook.one();
    assert.equal(request.text, '{"mended":true}');
    assert.equal(request.headers["content-type"], "application/json");
    assert.equal(request.headers["x-a"], "1");
    assert.equal(request.headers["upstash-message-id"], answer.json().messageId);
    await t.verified(request);
    assert.deepEqual((await t.client.dlq.listMessages({ filter: { messageId } })).messages, []);
  });
});

// What the API must not show although it is delivered.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { base64, refused, world } from "./harness.mjs";

const digest = (text) => `REDACTED:${createHash("sha256").update(text).digest("hex")}`;

describe("redaction", () => {
  const t = world();

  it("hides the body everywhere but at the destination", async () => {
    const hook = t.hook(500, 200);
    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "secret",
      retries: 0,
      redact: { body: true },
      headers: { "X-A": "open" },
    });
    const entry = await t.waitDeadLetter(messageId);

    assert.equal((await t.client.messages.get(messageId)).body, digest("secret"));
    assert.equal(entry.body, digest("secret"));
    assert.deepEqual(entry.header["X-A"], ["open"]);
    for (const log of await t.log(messageId)) assert.equal(log.body, base64(digest("secret")));
    const { responses } = await t.client.dlq.retry(entry.dlqId);
    const requests = await hook.wait(2);
    assert.deepEqual(
      requests.map(({ text }) => text),
      ["secret", "secret"],
    );
    await t.verified(requests[1]);
    assert.equal((await t.client.messages.get(responses[0].messageId)).body, digest("secret"));
  });

  it("hides single headers in any letter case", async () => {
    const hook = t.hook();
    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "open",
      redact: { header: ["authorization", "X-SECRET"] },
      headers: { Authorization: "Bearer a", "X-Secret": "b", "X-Open": "c" },
    });

    const { headers } = await hook.one();
    assert.deepEqual([headers.authorization, headers["x-secret"], headers["x-open"]], ["Bearer a", "b", "c"]);
    const message = await t.client.messages.get(messageId);
    assert.equal(message.body, "open");
    assert.deepEqual(message.header.Authorization, [digest("Bearer a")]);
    assert.deepEqual(message.header["X-Secret"], [digest("b")]);
    assert.deepEqual(message.header["X-Open"], ["c"]);
    for (const { header } of await t.log(messageId)) assert.deepEqual(header.Authorization, [digest("Bearer a")]);
  });

  it("hides all headers", async () => {
    const messageId = await t.waiting({ redact: { header: true }, headers: { "X-A": "1", "Content-Type": "a/b" } });

    assert.deepEqual((await t.client.messages.get(messageId)).header, {
      "Content-Type": [digest("a/b")],
      "X-A": [digest("1")],
    });
  });

  it("hides both, and deduplicates by the originals", async () => {
    const request = {
      body: "same",
      redact: { body: true, header: true },
      headers: { "X-A": "1" },
      contentBasedDeduplication: true,
    };

    const first = await t.client.publish({ url: t.receiver.url, delay: "1h", ...request });
    const second = await t.client.publish({ url: t.receiver.url, delay: "1h", ...request });
    const third = await t.client.publish({ url: t.receiver.url, delay: "1h", ...request, body: "other" });

    assert.equal(second.messageId, first.messageId);
    assert.notEqual(third.messageId, first.messageId);
    const message = await t.client.messages.get(first.messageId);
    assert.equal(message.body, digest("same"));
    assert.deepEqual(message.header["X-A"], [digest("1")]);
  });

  it("takes headers and headers[Name] for header, and refuses the rest", async () => {
    const answer = await t.raw("POST", `/v2/publish/${t.receiver.url}`, {
      headers: {
        "Upstash-Delay": "1h",
        "Upstash-Redact-Fields": "headers[x-a] , body",
        "Upstash-Forward-X-A": "1",
        "Upstash-Forward-X-B": "2",
      },
      body: "b",
    });
    const message = await t.client.messages.get(answer.json().messageId);
    assert.deepEqual(
      [message.body, message.header["X-A"][0], message.header["X-B"][0]],
      [digest("b"), digest("1"), "2"],
    );

    for (const value of ["url", "header[", "header[]", "body;header", "query"]) {
      await refused(
        t.client.publish({ url: t.receiver.url, headers: { "Upstash-Redact-Fields": value } }),
        400,
        /Redact/i,
      );
    }
  });
});

// What a destination receives, and what its answers mean.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { Receiver as Verifier, SignatureError } from "@upstash/qstash";
import { DEV_KEYS, unbase64, waitFor, world } from "./harness.mjs";

function claims(request) {
  const [head, payload] = request.headers["upstash-signature"].split(".");
  return { head: JSON.parse(Buffer.from(head, "base64url")), ...JSON.parse(Buffer.from(payload, "base64url")) };
}

describe("delivery", () => {
  const t = world();

  it("carries the headers of the protocol", async () => {
    const hook = t.hook(500, 200);

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 1, retryDelay: "1" });

    const [first, second] = await hook.wait(2);
    for (const [request, retried] of [
      [first, "0"],
      [second, "1"],
    ]) {
      assert.equal(request.headers["upstash-message-id"], messageId);
      assert.equal(request.headers["upstash-retried"], retried);
      assert.equal(request.headers["upstash-caller-ip"], "127.0.0.1");
      assert.equal(request.headers["user-agent"], "Upstash-QStash");
      assert.equal(request.headers.host, `127.0.0.1:${t.receiver.port}`);
      assert.equal("upstash-topic-name" in request.headers, false);
      assert.equal("upstash-schedule-id" in request.headers, false);
      await t.verified(request);
    }
  });

  it("signs as documented, anew for every attempt", async () => {
    const hook = t.hook(500, 200);

    await t.client.publish({ url: `${hook.url}?a=b`, body: "signed", retries: 1, retryDelay: "1" });

    const [first, second] = (await hook.wait(2)).map(claims);
    assert.deepEqual(first.head, { alg: "HS256", typ: "JWT" });
    assert.equal(first.iss, "Upstash");
    assert.equal(first.sub, `${hook.url}?a=b`);
    assert.equal(first.exp, first.iat + 300);
    assert.equal(Number.isInteger(first.iat), true);
    assert.ok(Math.abs(Date.now() / 1000 - first.iat) < 60);
    assert.ok(first.nbf <= first.iat, `nbf ${first.nbf}`);
    assert.match(first.jti, /^jwt_.+/);
    assert.notEqual(first.jti, second.jti);
    assert.equal("aud" in first, false);
    assert.equal(first.body.replace(/=+$/, ""), createHash("sha256").update("signed").digest("base64url"));
  });

  it("is refused by the official receiver when anything was changed", async () => {
    const hook = t.hook();
    await t.client.publish({ url: hook.url, body: "original" });
    const { headers, text } = await hook.one();
    const signature = headers["upstash-signature"];
    const verifier = new Verifier({
      currentSigningKey: DEV_KEYS.current,
      nextSigningKey: DEV_KEYS.next,
      devMode: false,
    });
    const stranger = new Verifier({ currentSigningKey: "sig_a", nextSigningKey: "sig_b", devMode: false });

    await assert.rejects(verifier.verify({ signature, body: "changed", url: hook.url }), SignatureError);
    await assert.rejects(verifier.verify({ signature, body: text, url: `${hook.url}/` }), SignatureError);
    await assert.rejects(verifier.verify({ signature: signature.slice(0, -4), body: text }), SignatureError);
    await assert.rejects(stranger.verify({ signature, body: text }), SignatureError);
    assert.equal(await verifier.verify({ signature, body: text }), true);
  });

  it("lets a forwarded User-Agent win", async () => {
    const hook = t.hook();

    await t.raw("POST", `/v2/publish/${hook.url}`, { body: "x", headers: { "Upstash-Forward-User-Agent": "mine/1" } });

    assert.equal((await hook.one()).headers["user-agent"], "mine/1");
  });

  for (const status of [200, 201, 202, 204, 299]) {
    it(`takes ${status} for delivered`, async () => {
      const hook = t.hook(status);

      const { messageId } = await t.client.publish({ url: hook.url, body: "x" });

      await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
      assert.equal(hook.requests.length, 1);
    });
  }

  for (const answer of [301, 304, 400, 404, 429, 489, 500, 503].map((status) => ({
    status,
    headers: { Location: "/elsewhere" },
  }))) {
    it(`takes ${answer.status} for failed, and does not follow it anywhere`, async () => {
      const entry = await t.deadLetter({ body: "x" }, answer);

      assert.equal(entry.responseStatus, answer.status);
      await t.waitStates(entry.messageId, "CREATED", "ACTIVE", "ERROR", "FAILED");
    });
  }

  it("gives up at once on 489 with Upstash-NonRetryable-Error", async () => {
    const hook = t.hook({ status: 489, headers: { "Upstash-NonRetryable-Error": "true" }, body: "never" });

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 5, retryDelay: "1" });

    const entry = await t.waitDeadLetter(messageId);
    assert.equal(entry.responseStatus, 489);
    assert.equal(entry.responseBody, "never");
    assert.equal(hook.requests.length, 1);
  });

  it("takes a broken connection for a failed attempt", async () => {
    const entry = await t.deadLetter({ body: "x" }, { action: "reset" });

    assert.equal(entry.responseStatus, 0);
    assert.ok(entry.responseBody, "the error's text stands for the answer");
    const error = (await t.log(entry.messageId)).find(({ state }) => state === "ERROR");
    assert.ok(error.error);
  });

  it("takes a refused connection for a failed attempt", async () => {
    const { messageId } = await t.client.publish({ url: "http://127.0.0.1:1/", body: "x", retries: 0 });

    const entry = await t.waitDeadLetter(messageId);
    assert.equal(entry.responseStatus, 0);
    assert.match(entry.responseBody, /refused/i);
  });

  it("ends an attempt at its timeout and retries", async () => {
    const hook = t.hook({ action: "hang" }, 200);
    const before = Date.now();

    const { messageId } = await t.client.publish({
      url: hook.url,
      body: "x",
      timeout: "1s",
      retries: 50, // as long as we are too slow to answer within the second
      retryDelay: "1",
    });

    const [, second] = await hook.wait(2);
    assert.ok(second.at >= before + 980, `${second.at - before}`);
    await waitFor(async () => (await t.states(messageId)).at(-1) === "DELIVERED", `${messageId} to be delivered`);
    assert.deepEqual((await t.states(messageId)).slice(0, 5), ["CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE"]);
    const error = (await t.log(messageId)).find(({ state }) => state === "ERROR");
    assert.match(error.error, /time/i);
    assert.equal(error.timeout, 1000);
  });

  it("takes a fraction of a second as timeout, as the client sends it", async () => {
    const hook = t.hook({ action: "hang" });

    const { messageId } = await t.client.publish({ url: hook.url, body: "x", timeout: 0.2, retries: 0 });

    await t.waitDeadLetter(messageId);
  });

  it("shows the answer of a failed attempt in the log", async () => {
    const entry = await t.deadLetter(
      { body: "x" },
      { status: 418, headers: { "X-Kind": "teapot" }, body: "short and stout" },
    );

    const error = (await t.log(entry.messageId)).find(({ state }) => state === "ERROR");
    assert.equal(error.responseStatus, 418);
    assert.equal(unbase64(error.responseBody), "short and stout");
    assert.deepEqual(error.responseHeaders["X-Kind"], ["teapot"]);
    assert.deepEqual(error.responseHeader["X-Kind"], ["teapot"]);
    assert.ok(error.error);
  });

  it("delivers in parallel without a queue", async () => {
    const hook = t.hook().hold();

    for (let i = 0; i < 10; i += 1) await t.client.publish({ url: hook.url, body: `${i}` });

    await waitFor(
      () => hook.running === 10,
      () => `10 requests at once; there were ${hook.running}`,
    );
    hook.release();
  });
});

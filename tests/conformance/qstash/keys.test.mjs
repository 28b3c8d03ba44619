// Signing keys and the official receiver; tokens of one's own.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Receiver as Verifier } from "@upstash/qstash";
import { DEV_TOKEN, refused, world } from "./harness.mjs";

const CHOSEN = { current: "sig_CurrentCurrentCurrentCurrent", next: "sig_NextNextNextNextNextNextNext" };

describe("keys that the operator chose", () => {
  const t = world({
    dev: false,
    token: "my-token/with=signs",
    flags: [
      "--allow-loopback-destinations",
      "--token",
      "my-token/with=signs",
      "--current-signing-key",
      CHOSEN.current,
      "--next-signing-key",
      CHOSEN.next,
    ],
  });

  it("are shown", async () => {
    const answer = await t.raw("GET", "/v2/keys");

    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), CHOSEN);
  });

  it("sign deliveries with the current one", async () => {
    const hook = t.hook();

    await t.client.publish({ url: hook.url, body: "x" });

    const request = await hook.one();
    await t.verified(request, CHOSEN);
    await t.verified(request, { current: "sig_old", next: CHOSEN.current });
    await assert.rejects(t.verified(request, { current: "sig_old", next: CHOSEN.next }), /signature/);
  });

  it("are taken by the receiver from the environment, as applications set them", async () => {
    const hook = t.hook();
    process.env.QSTASH_CURRENT_SIGNING_KEY = CHOSEN.current;
    process.env.QSTASH_NEXT_SIGNING_KEY = CHOSEN.next;
    process.env.QSTASH_URL = t.server.url;
    process.env.QSTASH_TOKEN = t.server.token;
    const { Client } = await import("@upstash/qstash");

    await new Client().publishJSON({ url: hook.url, body: { from: "environment" } });

    const request = await hook.one();
    const signature = request.headers["upstash-signature"];
    assert.equal(
      await new Verifier().verify({
        signature,
        body: request.text,
        url: hook.url,
        upstashRegion: request.headers["upstash-region"],
      }),
      true,
    );
  });

  it("come with a token of one's own: no other is accepted", async () => {
    await refused(t.connect({ token: DEV_TOKEN }).publish({ url: t.hook().url }), 401);
    await refused(t.connect({ token: "my-token/with=sign" }).publish({ url: t.hook().url }), 401);
    assert.equal((await t.raw("GET", "/v2/keys", { token: null })).status, 401);
    assert.equal(
      (await t.raw("GET", `/v2/keys?qstash_token=${encodeURIComponent(t.server.token)}`, { token: null })).status,
      200,
    );
  });

  it("are refused to other methods", async () => {
    await t.refusals([
      ["PUT", "PUT", "/v2/keys", {}, 405],
      ["below", "GET", "/v2/keys/current", {}, 404],
    ]);
  });
});

describe("keys that the server made", () => {
  const t = world({ dev: false, token: "chosen", flags: ["--allow-loopback-destinations", "--token", "chosen"] });

  it("are random, differ, and sign", async () => {
    const keys = (await t.raw("GET", "/v2/keys")).json();
    const hook = t.hook();

    await t.client.publish({ url: hook.url, body: "x" });

    assert.match(keys.current, /^sig_[A-Za-z0-9]{20,}$/);
    assert.match(keys.next, /^sig_[A-Za-z0-9]{20,}$/);
    assert.notEqual(keys.current, keys.next);
    await t.verified(await hook.one(), keys);
  });
});

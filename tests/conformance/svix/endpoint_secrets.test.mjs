// Secrets and their rotation (webhooks-api 5.3), as receivers see it.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { describe, it } from "node:test";
import { both, invalid, notVerified, refused, signaturesOf, signV1, sleep, verified, verifiedV1a, world } from "./harness.mjs";

const A = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const B = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const secretOf = (bytes) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;

describe("secrets", () => {
  const t = world();

  both(t, "are made, and sign", async (c) => {
    const { app, ep, hook } = await t.customer();
    const { key } = await c.endpoint.getSecret(app, ep);
    assert.match(key, /^whsec_[A-Za-z0-9+/]{32}$/); // base64 of 24 bytes
    await t.send(app);
    verified(await hook.one(), key);
    notVerified(hook.requests[0], A);
  });

  both(t, "may be given, in every legal form", async (c) => {
    for (const secret of [A, secretOf(24), secretOf(75), secretOf(40)]) {
      const { app, ep, hook } = await t.customer({ secret });
      assert.equal((await c.endpoint.getSecret(app, ep)).key, secret);
      await t.send(app);
      verified(await hook.one(), secret);
    }
    // 1.5: bare base64 is taken as whsec_.
    const { app, ep } = await t.customer({ secret: A.slice(6) });
    assert.equal((await c.endpoint.getSecret(app, ep)).key, A);
  });

  both(t, "are rotated with an overlap", async (c) => {
    const { app, ep, hook } = await t.customer({ secret: A });
    await c.endpoint.rotateSecret(app, ep, { key: B });
    assert.equal((await c.endpoint.getSecret(app, ep)).key, B);
    await t.send(app);
    const request = await hook.one();
    verified(request, A);
    verified(request, B);
    // Current first, then the old ones, latest first.
    assert.deepEqual(signaturesOf(request), [signV1(request, B), signV1(request, A)]);
    await c.endpoint.rotateSecret(app, ep);
    const { key } = await c.endpoint.getSecret(app, ep);
    await t.send(app);
    const [, second] = await hook.wait(2);
    assert.deepEqual(
      signaturesOf(second),
      [key, B, A].map((one) => signV1(second, one)),
    );
    assert.deepEqual(signaturesOf(second, "webhook"), signaturesOf(second, "svix"));
  });

  both(t, "are dropped at once without a grace, and after it with one", async (c) => {
    const { app, ep, hook } = await t.customer({ secret: A });
    await c.endpoint.rotateSecret(app, ep, { key: B, gracePeriodSeconds: 0 });
    await t.send(app);
    const first = await hook.one();
    assert.deepEqual(signaturesOf(first), [signV1(first, B)]);
    await c.endpoint.rotateSecret(app, ep, { key: A, gracePeriodSeconds: 1 });
    await sleep(1300);
    await t.send(app);
    const [, second] = await hook.wait(2);
    assert.deepEqual(signaturesOf(second), [signV1(second, A)]);
  });

  it("sign attempts of messages that were waiting", async () => {
    const { app, ep, hook } = await t.customer({ secret: A, disabled: true });
    await t.send(app);
    await t.svix.endpoint.rotateSecret(app, ep, { key: B, gracePeriodSeconds: 0 });
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    const request = await hook.one();
    assert.deepEqual(signaturesOf(request), [signV1(request, B)]);
  });

  it("live ten at most beside the current one", async () => {
    const { app, ep } = await t.customer();
    for (let i = 0; i < 10; i += 1) await t.svix.endpoint.rotateSecret(app, ep);
    await refused(t.svix.endpoint.rotateSecret(app, ep), 400, "limit_reached");
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    assert.match(key, /^whsec_/);
  });

  both(t, "may be of ed25519: only the public half is shown", async (c) => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const jwk = privateKey.export({ format: "jwk" });
    const [seed, open] = [Buffer.from(jwk.d, "base64url"), Buffer.from(jwk.x, "base64url")];
    for (const secret of [seed, Buffer.concat([seed, open])]) {
      const { app, ep, hook } = await t.customer({ secret: `whsk_${secret.toString("base64")}` });
      const { key } = await c.endpoint.getSecret(app, ep);
      assert.equal(key, `whpk_${open.toString("base64")}`);
      await t.send(app);
      const request = await hook.one();
      assert.match(signaturesOf(request).join(), /^v1a,[A-Za-z0-9+/]{86}==$/);
      assert.ok(verifiedV1a(request, key));
    }
  });

  it("follow the published vector of ed25519", async () => {
    const secret = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==";
    const { app, ep } = await t.customer({ secret });
    assert.equal((await t.svix.endpoint.getSecret(app, ep)).key, "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
  });

  it("of both kinds sign side by side, and old receivers are not troubled", async () => {
    const { app, ep, hook } = await t.customer({ secret: A });
    const seed = Buffer.alloc(32, 5).toString("base64");
    await t.svix.endpoint.rotateSecret(app, ep, { key: `whsk_${seed}` });
    await t.send(app);
    const request = await hook.one();
    // 23: unknown versions in the list must not break those that know only v1.
    verified(request, A);
    const { key } = await t.svix.endpoint.getSecret(app, ep);
    assert.ok(verifiedV1a(request, key));
    assert.equal(signaturesOf(request).length, 2);
  });

  it("refuse what is none", async () => {
    const { app, ep } = await t.customer();
    await t.refusedBodies("POST", `/app/${app}/endpoint/${ep}/secret/rotate`, [
      [{ key: "whsec_AAAA" }, "body.key"],
      [{ key: secretOf(23) }, "body.key"],
      [{ key: secretOf(76) }, "body.key"],
      [{ key: "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=" }, "body.key"],
      [{ key: 7 }, "body.key"],
      [{ gracePeriodSeconds: -1 }, "body.gracePeriodSeconds"],
      [{ gracePeriodSeconds: 604801 }, "body.gracePeriodSeconds"],
      [{ gracePeriodSeconds: "1" }, "body.gracePeriodSeconds"],
    ]);
    await invalid(t.svix.endpoint.rotateSecret(app, ep, { key: "nonsense!" }), "body.key");
    await refused(t.svix.endpoint.getSecret(app, "nobody"), 404);
  });
});

// Rotation: the next key takes over, a new next one is made.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { world } from "./harness.mjs";

describe("rotation", () => {
  const t = world({ dev: false, token: "chosen", flags: ["--allow-loopback-destinations", "--token", "chosen"] });

  const keys = async () => (await t.raw("GET", "/v2/keys")).json();
  const rotate = async () => (await t.raw("POST", "/v2/keys/rotate")).json();
  const deliver = async () => {
    const hook = t.hook();
    await t.client.publish({ url: hook.url, body: "x" });
    return hook.one();
  };

  it("moves the next key up and makes a new one", async () => {
    const before = await keys();

    const after = await rotate();

    assert.equal(after.current, before.next);
    assert.match(after.next, /^sig_[A-Za-z0-9]{20,}$/);
    assert.equal(new Set([before.current, before.next, after.next]).size, 3);
    assert.deepEqual(await keys(), after);
  });

  it("needs no change at a receiver the first time, and one the second time", async () => {
    const held = await keys();
    await t.verified(await deliver(), held);

    await rotate();
    await t.verified(await deliver(), held);
    await rotate();

    const request = await deliver();
    await assert.rejects(t.verified(request, held), /signature/);
    await t.verified(request, await keys());
  });

  it("applies to attempts, not to messages", async () => {
    const hook = t.hook(500, 200).hold();
    await t.client.publish({ url: hook.url, body: "x", retries: 1, retryDelay: "1" });
    const before = await keys();
    const first = await hook.one();

    const after = await rotate();
    hook.release();

    const [, second] = await hook.wait(2);
    await t.verified(first, { current: before.current, next: "sig_none" });
    await t.verified(second, { current: after.current, next: "sig_none" });
  });

  it("survives kill -9", async () => {
    const rotated = await rotate();

    await t.server.restart();

    assert.deepEqual(await keys(), rotated);
    await t.verified(await deliver(), rotated);
  });

  it("needs the token and POST", async () => {
    const before = await keys();

    await t.refusals([
      ["no token", "POST", "/v2/keys/rotate", { token: null }, 401],
      ["wrong token", "POST", "/v2/keys/rotate", { token: "x" }, 401],
      ["GET", "GET", "/v2/keys/rotate", {}, 405],
    ]);

    assert.deepEqual(await keys(), before);
  });
});

// One manual attempt (webhooks-api 7.4).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, FAIL, quick, refused, SUCCESS, verified, world } from "./harness.mjs";

describe("resend", () => {
  const t = world();

  both(t, "makes one attempt now, with the same id and a new signature", async (c) => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: quick(1) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, FAIL);
    await c.messageAttempt.resend(app, id, ep);
    await t.waitStatus(app, id, ep, SUCCESS);
    const [first, second] = await hook.wait(2);
    assert.equal(first.headers["svix-id"], second.headers["svix-id"]);
    verified(second, (await c.endpoint.getSecret(app, ep)).key);
    assert.equal(first.headers["hikyaku-attempt"], "1");
    assert.match(second.headers["hikyaku-attempt"], /^m\d+$/);
  });

  it("answers 202 and an object", async () => {
    const { app, ep } = await t.customer();
    const { id } = await t.send(app);
    assert.deepEqual(await t.own("POST", `/app/${app}/msg/${id}/endpoint/${ep}/resend`, undefined, 202), {});
  });

  it("reaches an endpoint that the message was never for", async () => {
    const app = await t.app();
    const { id } = await t.send(app, "x", { early: true });
    const hook = t.hook();
    const ep = (await t.endpoint(app, hook)).id;
    await t.svix.messageAttempt.resend(app, id, ep);
    assert.equal((await hook.one()).text, '{"early":true}');
    await t.waitStatus(app, id, ep, SUCCESS);
  });

  it("needs an endpoint that is enabled, and one that is there", async () => {
    const { app, ep } = await t.customer();
    const { id } = await t.send(app);
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    await refused(t.svix.messageAttempt.resend(app, id, ep), 400, "endpoint_disabled");
    await refused(t.svix.messageAttempt.resend(app, id, "nobody"), 404);
    await refused(t.svix.messageAttempt.resend(app, "nobody", ep), 404);
  });
});

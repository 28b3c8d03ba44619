// One delivery as the receiver sees it, and what its answer does (webhooks-api 13.1 to 13.3).
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import {
  assertNotBefore,
  FAIL,
  ID,
  notVerified,
  PENDING,
  quick,
  SENDING,
  signaturesOf,
  signV1,
  SUCCESS,
  verified,
  waitFor,
  world,
} from "./harness.mjs";

const A = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const B = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/** The layout of Stripe: the key is the whole text of the secret. */
function stripeSignature(request, secret) {
  const time = /^t=(\d+),/.exec(request.headers["stripe-signature"])[1];
  return createHmac("sha256", secret).update(`${time}.`).update(request.body).digest("hex");
}

describe("a delivery", () => {
  const t = world();

  it("is a POST with both families of headers", async () => {
    const { app, ep, hook } = await t.customer();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const before = Math.floor(Date.now() / 1000);
    const answer = await t.raw("POST", `/api/v1/app/${app}/msg`, { body: { eventType: "x", payload: { a: 1 } }, headers: { traceparent } });
    const { id } = answer.json();
    const request = await hook.one();
    const { headers } = request;
    assert.equal(request.method, "POST");
    assert.match(id, ID.msg);
    for (const family of ["svix", "webhook"]) {
      assert.equal(headers[`${family}-id`], id);
      assert.ok(Number(headers[`${family}-timestamp`]) >= before - 1 && Number(headers[`${family}-timestamp`]) <= Date.now() / 1000 + 1);
    }
    assert.equal(headers["svix-signature"], headers["webhook-signature"]);
    assert.equal(headers["svix-timestamp"], headers["webhook-timestamp"]);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["content-length"], "7");
    assert.match(headers["user-agent"], /^Hikyaku-Webhooks\/\d/);
    assert.equal(headers["hikyaku-attempt"], "1");
    assert.match(headers.traceparent, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-[0-9a-f]{2}$/);
    assert.ok(!headers.traceparent.includes("b7ad6b7169203331"));
    for (const name of ["cookie", "authorization", "upstash-signature", "upstash-message-id"]) assert.equal(headers[name], undefined, name);
    verified(request, (await t.svix.endpoint.getSecret(app, ep)).key);
  });

  it("is accepted by receivers that know one family only", async () => {
    for (const [headerSet, has, lacks] of [
      ["svix", "svix", "webhook"],
      ["webhook", "webhook", "svix"],
      ["both", "svix", undefined],
    ]) {
      const { app, hook } = await t.customer({ secret: A, options: { headerSet } });
      await t.send(app);
      const { headers, ...rest } = await hook.one();
      assert.deepEqual(signaturesOf({ headers, ...rest }, has).length, 1);
      if (lacks) assert.equal(headers[`${lacks}-signature`], undefined);
    }
  });

  it("is not accepted when a byte of it was changed", async () => {
    const { app, hook } = await t.customer({ secret: A });
    await t.send(app, "x", { amount: 100 });
    const request = await hook.one();
    verified(request, A);
    notVerified({ ...request, text: request.text.replace("100", "900") }, A);
    notVerified({ ...request, headers: { ...request.headers, "svix-id": "msg_other", "webhook-id": "msg_other" } }, A);
    notVerified(request, B);
  });

  it("may be signed as Stripe does", async () => {
    const { app, ep, hook } = await t.customer({ secret: A, options: { signing: { stripe: true } } });
    await t.send(app, "x", { test: 2432232314 });
    const both = await hook.one();
    verified(both, A);
    assert.equal(both.headers["stripe-signature"], `t=${both.headers["svix-timestamp"]},v1=${stripeSignature(both, A)}`);
    await t.svix.endpoint.rotateSecret(app, ep, { key: B });
    await t.options(app, ep, { signing: { standard: false } });
    await t.send(app);
    const [, stripe] = await hook.wait(2);
    assert.deepEqual([stripe.headers["svix-signature"], stripe.headers["webhook-signature"]], [undefined, undefined]);
    const time = /^t=(\d+),/.exec(stripe.headers["stripe-signature"])[1];
    assert.equal(stripe.headers["stripe-signature"], `t=${time},v1=${stripeSignature(stripe, B)},v1=${stripeSignature(stripe, A)}`);
    await t.options(app, ep, { signing: { stripeHeader: "X-Signature" } });
    await t.send(app);
    const [, , named] = await hook.wait(3);
    assert.match(named.headers["x-signature"], /^t=\d+,v1=[0-9a-f]{64}/);
  });

  it("cannot be signed as Stripe does with ed25519", async () => {
    const secret = `whsk_${Buffer.alloc(32, 9).toString("base64")}`;
    const { app, ep } = await t.customer({ secret });
    const refused = await t.raw("PATCH", `/api/v1/webhooks/app/${app}/endpoint/${ep}/delivery`, { body: { signing: { stripe: true } } });
    assert.equal(refused.status, 422, refused.text);
  });

  it("keeps its id, and is signed anew for each attempt", async () => {
    const { app, hook } = await t.customer({ secret: A, answers: [500, 500, 200], options: quick(3, 1.1) });
    const { id } = await t.send(app);
    const requests = await hook.wait(3);
    for (const [i, request] of requests.entries()) {
      assert.equal(request.headers["svix-id"], id);
      assert.equal(request.headers["hikyaku-attempt"], `${i + 1}`);
      assert.deepEqual(signaturesOf(request), [signV1(request, A)]);
    }
    assert.equal(new Set(requests.map(({ headers }) => headers["svix-timestamp"])).size, 3);
  });

  it("succeeds with any 2xx", async () => {
    for (const status of [200, 201, 202, 204, 299]) {
      const { app, ep } = await t.customer({ answers: [status] });
      const { id } = await t.send(app);
      await t.waitStatus(app, id, ep, SUCCESS);
      assert.equal((await t.attempts(app, id))[0].responseStatusCode, status);
    }
  });

  it("fails with anything else, and is given up when its attempts are", async () => {
    for (const status of [300, 304, 400, 401, 404, 409, 500, 502, 599]) {
      const { app, ep, hook } = await t.customer({ answers: [status], options: quick(2) });
      const { id } = await t.send(app);
      await t.waitStatus(app, id, ep, FAIL);
      assert.equal(hook.requests.length, 2, `${status}`);
      assert.deepEqual((await t.attempts(app, id)).map((one) => one.responseStatusCode), [status, status]);
    }
  });

  it("follows no redirect", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const target = t.hook();
      const { app, ep, hook } = await t.customer({ answers: [{ status, headers: { Location: target.url } }], options: quick(1) });
      const { id } = await t.send(app);
      await t.waitStatus(app, id, ep, FAIL);
      assert.equal(hook.requests.length, 1);
      assert.equal(target.requests.length, 0);
    }
  });

  it("disables an endpoint that is gone, and waits there", async () => {
    const { app, ep, hook } = await t.customer({ answers: [410, 200] });
    const { id } = await t.send(app);
    await waitFor(async () => (await t.svix.endpoint.get(app, ep)).disabled, "the endpoint to be disabled");
    const state = await t.state(app, ep);
    assert.deepEqual([state.disabled, state.disabledReason], [true, "gone"]);
    const later = await t.send(app);
    await t.settle();
    assert.equal(hook.requests.length, 1);
    assert.deepEqual([(await t.delivery(app, id, ep)).status, (await t.delivery(app, later.id, ep)).status], [SENDING, PENDING]);
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await t.waitStatus(app, later.id, ep, SUCCESS);
    await t.waitStatus(app, id, ep, SUCCESS);
  });

  it("closes the endpoint for as long as Retry-After says", async () => {
    for (const status of [429, 503]) {
      const { app, ep, hook } = await t.customer({
        answers: [{ status, headers: { "Retry-After": "2" } }, 200],
        options: quick(3),
      });
      const first = await t.send(app, "x", { n: 1 });
      const { at } = await hook.one();
      await waitFor(async () => (await t.state(app, ep)).throttledUntil, "the gate to close");
      const second = await t.send(app, "x", { n: 2 }); // it waits as well
      await t.waitStatus(app, first.id, ep, SUCCESS);
      await t.waitStatus(app, second.id, ep, SUCCESS);
      for (const later of hook.requests.slice(1)) assertNotBefore(later.at, at + 2000);
    }
  });

  it("understands Retry-After as a date, and caps it", async () => {
    const date = new Date(Date.now() + 3000).toUTCString();
    const { app, ep, hook } = await t.customer({ answers: [{ status: 503, headers: { "Retry-After": date } }, 200], options: quick(3) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS);
    assertNotBefore(hook.requests[1].at, new Date(date).getTime());
    const capped = await t.customer({
      answers: [{ status: 503, headers: { "Retry-After": "3600" } }, 200],
      options: { retry: { delays: [0, 0.05], jitter: 0, retryAfterMaxSeconds: 1 } },
    });
    const sent = await t.send(capped.app);
    await t.waitStatus(capped.app, sent.id, capped.ep, SUCCESS);
    assert.ok(capped.hook.requests[1].at - capped.hook.requests[0].at < 30_000);
  });

  it("is given up at once where an answer says so", async () => {
    const rows = [
      [{ status: 489, headers: { "Upstash-NonRetryable-Error": "true" } }, {}],
      [{ status: 422 }, { giveUpStatuses: [422, 404] }],
    ];
    for (const [answer, retry] of rows) {
      const { app, ep, hook } = await t.customer({ answers: [answer], options: { retry: { delays: [0, 0.05, 0.05], jitter: 0, ...retry } } });
      const { id } = await t.send(app);
      await t.waitStatus(app, id, ep, FAIL);
      assert.equal(hook.requests.length, 1);
    }
    const { app, ep, hook } = await t.customer({ answers: [489, 200], options: quick(2) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS); // 489 alone says nothing
    assert.equal(hook.requests.length, 2);
  });

  it("ends after its timeout, counted over the whole exchange", async () => {
    const { app, ep, hook } = await t.customer({ answers: [{ action: "hang" }, 200], options: { ...quick(2), timeout: 1 } });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS);
    const gap = hook.requests[1].at - hook.requests[0].at;
    assert.ok(gap >= 950, `${gap}`);
    const [first] = await t.waitAttempts(app, id, 2);
    assert.ok(first.responseDurationMs >= 950 && first.responseDurationMs < 20_000, `${first.responseDurationMs}`);
  });

  it("does not wait for a neighbour that hangs", async () => {
    const app = await t.app();
    const [stuck, well] = [t.hook({ action: "hang" }), t.hook()];
    for (const hook of [stuck, well]) await t.endpoint(app, hook);
    for (let i = 0; i < 20; i += 1) await t.send(app, "x", { i });
    await well.wait(20);
    assert.ok(stuck.requests.length >= 1);
  });

  it("goes on after what was broken, and keeps the connection to others", async () => {
    const { app, ep, hook } = await t.customer({ answers: [{ action: "reset" }, 200], options: quick(2) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS);
    assert.equal(hook.requests.length, 2);
  });

  it("runs no more at once than its endpoint's parallelism", async () => {
    const { app, ep, hook } = await t.customer({ options: { parallelism: 3 } });
    hook.hold();
    for (let i = 0; i < 12; i += 1) await t.send(app, "x", { i });
    await waitFor(() => hook.held.length === 3, "three at once");
    await t.settle();
    assert.equal(hook.held.length, 3);
    assert.equal((await t.state(app, ep)).inFlight, 3);
    hook.release();
    await hook.wait(12);
    assert.equal(hook.runningMax, 3);
  });

  it("is a job, like any message", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const { id } = await t.send(app);
    const job = await t.own("GET", `/jobs/${id}.${ep}`);
    assert.equal(job.status, "PENDING");
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await t.waitStatus(app, id, ep, SUCCESS);
    assert.equal((await t.own("GET", `/jobs/${id}.${ep}`)).status, "SUCCEEDED");
  });
});

// What the description asks for and the server does not do yet (webhooks-api 7, 7.3, 7.4, 13.4, 13.5). The area is not enabled;
// a test that passes moves to the area of its subject.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CANCELED, FAIL, PENDING, quick, SENDING, SUCCESS, waitFor, world } from "./harness.mjs";

const NUMBER = (one) => JSON.parse(one).n;

describe("manual attempts", () => {
  const t = world();

  it("are among the attempts of their message", async () => {
    const { app, ep } = await t.customer({ answers: [500, 200], options: quick(1) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, FAIL);
    await t.svix.messageAttempt.resend(app, id, ep);
    const attempts = await t.waitAttempts(app, id, 2);
    assert.deepEqual(
      attempts.map(({ triggerType, status }) => [triggerType, status]),
      [
        [0, FAIL],
        [1, SUCCESS],
      ],
    );
  });

  it("take the schedule's place when they succeed, and nothing of it when they fail", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 500, 200], options: quick(2, 3600) });
    const { id } = await t.send(app);
    await t.waitRetry(app, id, ep);
    const before = await t.delivery(app, id, ep);
    await t.svix.messageAttempt.resend(app, id, ep);
    await t.waitAttempts(app, id, 2);
    const after = await t.delivery(app, id, ep);
    assert.deepEqual([after.status, after.nextAttempt], [SENDING, before.nextAttempt]);
    await t.svix.messageAttempt.resend(app, id, ep);
    const done = await t.waitStatus(app, id, ep, SUCCESS);
    assert.equal(done.nextAttempt, null);
    await t.quiet(hook);
    assert.equal(hook.requests.length, 3);
  });

  it("of what succeeded leave it so", async () => {
    const { app, ep, hook } = await t.customer({ answers: [200, 500], options: quick(1) });
    const { id } = await t.send(app);
    await t.waitStatus(app, id, ep, SUCCESS);
    await t.svix.messageAttempt.resend(app, id, ep);
    await hook.wait(2);
    await t.waitAttempts(app, id, 2);
    assert.equal((await t.delivery(app, id, ep)).status, SUCCESS);
  });

  it("go past an open circuit and a message that blocks", async () => {
    const { app, ep, hook } = await t.customer({
      answers: [500, 500, 200],
      options: { ...quick(2, 3600), order: "endpoint", circuit: { failures: 1, openSeconds: 60, maxOpenSeconds: 60 } },
    });
    const first = await t.send(app, "x", { n: 1 });
    const second = await t.send(app, "x", { n: 2 });
    await t.waitRetry(app, first.id, ep);
    await waitFor(async () => (await t.state(app, ep)).circuit.state === "open", "the circuit to open");
    await t.svix.messageAttempt.resend(app, second.id, ep);
    await t.waitAttempts(app, second.id, 1);
    await t.svix.messageAttempt.resend(app, second.id, ep);
    await t.waitStatus(app, second.id, ep, SUCCESS);
    assert.deepEqual(hook.bodies.slice(1), ['{"n":2}', '{"n":2}']);
  });
});

describe("endpoints that are deleted", () => {
  const t = world();

  it("cancel what waits when they are deleted, and keep what was tried", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500], options: quick(2, 3600) });
    const { id } = await t.send(app);
    await t.waitAttempts(app, id, 1);
    await t.svix.endpoint.delete(app, ep);
    const gone = await t.waitStatus(app, id, ep, CANCELED);
    assert.equal(gone.url, hook.url); // 7.3: also for deleted endpoints
    assert.equal((await t.attempts(app, id)).length, 1);
    const job = await t.own("GET", `/jobs/${id}.${ep}`);
    assert.equal(job.status, "CANCELED");
    assert.match(JSON.stringify(job), /endpoint_deleted/);
  });
});

describe("an order that halts", () => {
  const t = world();

  it("waits until somebody decides", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 200], options: { ...quick(1), order: "endpoint", onExhausted: "halt" } });
    const first = await t.send(app, "x", { n: 1 });
    const second = await t.send(app, "x", { n: 2 });
    await t.waitStatus(app, first.id, ep, FAIL);
    await t.settle();
    assert.deepEqual(hook.bodies.map(NUMBER), [1]);
    assert.equal((await t.delivery(app, second.id, ep)).status, PENDING);
    await t.svix.messageAttempt.resend(app, first.id, ep);
    await t.waitStatus(app, second.id, ep, SUCCESS);
    assert.deepEqual(hook.bodies.map(NUMBER), [1, 1, 2]);
  });
});

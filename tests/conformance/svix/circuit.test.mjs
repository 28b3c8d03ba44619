// The circuit of an endpoint, and its end (webhooks-api 14.1, 14.2).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertNotBefore, quick, SUCCESS, waitFor, world } from "./harness.mjs";

describe("the circuit", () => {
  const t = world();

  it("opens after failures in a row, probes once, and closes with a success", async () => {
    const { app, ep, hook } = await t.customer({
      answers: [500, 500, 500, 200],
      options: { ...quick(10), parallelism: 1, circuit: { failures: 3, openSeconds: 2, maxOpenSeconds: 4 } },
    });
    const { id } = await t.send(app);
    await hook.wait(3);
    const open = await waitFor(async () => {
      const state = await t.state(app, ep);
      return state.circuit.state === "open" && state;
    }, "the circuit to open");
    assert.equal(open.consecutiveFailures, 3);
    assert.ok(open.failingSince && new Date(open.circuit.until) > new Date(open.failingSince));
    const others = [await t.send(app), await t.send(app)];
    const [, , third, probe] = await hook.wait(4);
    assertNotBefore(probe.at, third.at + 2000);
    await t.waitStatus(app, id, ep, SUCCESS);
    for (const one of others) await t.waitStatus(app, one.id, ep, SUCCESS);
    const closed = await t.state(app, ep);
    assert.deepEqual([closed.circuit.state, closed.consecutiveFailures, closed.failingSince], ["closed", 0, null]);
  });

  it("stays open longer each time that the probe fails", async () => {
    const { app, hook } = await t.customer({
      answers: [500, 500, 500, 200],
      options: { ...quick(10), parallelism: 1, circuit: { failures: 1, openSeconds: 1, maxOpenSeconds: 2 } },
    });
    await t.send(app);
    const [one, two, three, four] = await hook.wait(4);
    assertNotBefore(two.at, one.at + 1000);
    assertNotBefore(three.at, two.at + 2000);
    assertNotBefore(four.at, three.at + 2000);
  });

  it("may be off", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500], options: { ...quick(25), circuit: null, disable: null } });
    const { id } = await t.send(app);
    await hook.wait(25);
    await t.waitAttempts(app, id, 25);
    assert.notEqual((await t.state(app, ep)).circuit?.state, "open");
  });

  it("outlives kill -9, and so does the count to the end", async () => {
    const { app, ep, hook } = await t.customer({
      answers: [500],
      options: { ...quick(8, 0.5), circuit: null, disable: { afterSeconds: 432000, minAttempts: 1, failures: 6, warnAt: [] } },
    });
    await t.send(app);
    await hook.wait(3);
    await waitFor(async () => (await t.state(app, ep)).consecutiveFailures >= 3, "three failures to be known");
    const { failingSince } = await t.state(app, ep);
    await t.server.restart();
    assert.equal((await t.state(app, ep)).failingSince, failingSince);
    const state = await waitFor(async () => {
      const now = await t.state(app, ep);
      return now.disabled && now;
    }, "the endpoint to be disabled");
    assert.deepEqual([state.disabledReason, state.consecutiveFailures], ["failing", 6]);
  });

  it("is closed, and its record cleared, by enabling the endpoint", async () => {
    const { app, ep, hook } = await t.customer({
      answers: [500, 200],
      options: { ...quick(5), circuit: { failures: 1, openSeconds: 3600, maxOpenSeconds: 3600 } },
    });
    await t.send(app);
    await hook.one();
    await waitFor(async () => (await t.state(app, ep)).circuit.state === "open", "the circuit to open");
    await t.svix.endpoint.patch(app, ep, { disabled: true });
    await t.svix.endpoint.patch(app, ep, { disabled: false });
    await hook.wait(2);
    const state = await t.state(app, ep);
    assert.equal(state.circuit.state, "closed");
  });
});

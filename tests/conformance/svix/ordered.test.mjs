// Ordered delivery (webhooks-api 13.5).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAIL, quick, sleep, SUCCESS, waitFor, world } from "./harness.mjs";

const NUMBER = (one) => JSON.parse(one).n;

describe("ordered delivery", () => {
  const t = world();

  it("sends one after the other, in the order of the publishes", async () => {
    const { app, hook } = await t.customer({ options: { order: "endpoint" } });
    for (let n = 0; n < 20; n += 1) await t.send(app, "x", { n });
    await hook.wait(20);
    assert.deepEqual(hook.bodies.map(NUMBER), Array.from({ length: 20 }, (_, n) => n));
    assert.equal(hook.runningMax, 1);
  });

  it("waits for the retries of the one before, and goes on when it is given up", async () => {
    const { app, ep, hook } = await t.customer({ answers: [500, 500, 200], options: { ...quick(2), order: "endpoint" } });
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push((await t.send(app, "x", { n })).id);
    await t.waitStatus(app, ids[2], ep, SUCCESS);
    assert.deepEqual(hook.bodies.map(NUMBER), [0, 0, 1, 2]);
    await t.waitStatus(app, ids[0], ep, FAIL);
  });

  it("keeps the order by channel, and keys do not block each other", async () => {
    const { app, hook } = await t.customer({ answers: [500, 200], options: { ...quick(3, 1), order: "channel" } });
    await t.send(app, "x", { n: 1 }, { channels: ["a"] });
    await hook.one();
    await t.send(app, "x", { n: 2 }, { channels: ["a"] });
    await t.send(app, "x", { n: 3 }, { channels: ["b"] });
    await t.send(app, "x", { n: 4 }, { channels: ["b"] });
    await hook.wait(5);
    const order = hook.bodies.map(NUMBER);
    assert.deepEqual(order.filter((n) => n <= 2), [1, 1, 2]);
    assert.deepEqual(order.filter((n) => n > 2), [3, 4]);
    assert.ok(order.indexOf(4) < order.lastIndexOf(1), `${order}`);
  });

  it("keeps the order by tag; what has none is free", async () => {
    const { app, hook } = await t.customer({ answers: [500, 200], options: { ...quick(3, 1), order: "tag" } });
    await t.send(app, "x", { n: 1 }, { tags: ["a", "z"] });
    await hook.one();
    await t.send(app, "x", { n: 2 }, { tags: ["a"] });
    await t.send(app, "x", { n: 3 });
    await hook.wait(4);
    const order = hook.bodies.map(NUMBER);
    assert.deepEqual(order.filter((n) => n <= 2), [1, 1, 2]);
    assert.ok(order.indexOf(3) < order.lastIndexOf(1), `${order}`);
  });

  it("survives kill -9 without a jump", async () => {
    const { app, hook } = await t.customer({ options: { order: "endpoint" } });
    hook.hold();
    for (let n = 0; n < 10; n += 1) await t.send(app, "x", { n });
    await hook.one();
    await t.server.restart();
    hook.release();
    await waitFor(() => hook.bodies.length > 0 && NUMBER(hook.bodies.at(-1)) === 9, "the last one");
    // The one in flight at the kill may come twice; no other, and none out of order.
    assert.deepEqual(
      hook.bodies.map(NUMBER).filter((n, i) => n !== 0 || i === 0),
      Array.from({ length: 10 }, (_, n) => n),
    );
    await sleep(0);
  });
});

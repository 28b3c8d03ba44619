// Limits under a key, as messages bring them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitFor, world } from "./harness.mjs";

describe("flow control", () => {
  const t = world();

  it("keeps at most `parallelism` attempts in flight, whatever the destination", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();
    const other = t.hook();

    for (let i = 0; i < 5; i += 1)
      await t.client.publish({ url: hook.url, body: `${i}`, flowControl: { key, parallelism: 2 } });
    await waitFor(
      () => hook.running === 2,
      () => `2 at once; there were ${hook.running}`,
    );
    await t.client.publish({ url: other.url, body: "x", flowControl: { key, parallelism: 2 } });
    await t.settle();

    assert.equal(hook.requests.length, 2);
    assert.equal(other.requests.length, 0);
    hook.release();
    await hook.wait(5);
    await other.one();
    assert.ok(hook.runningMax <= 2, `${hook.runningMax} at once`);
  });

  it("starts at most `rate` attempts in a period", async () => {
    const key = t.name("key");
    const hook = t.hook();
    const ids = [];

    for (let i = 0; i < 5; i += 1) {
      ids.push(
        (await t.client.publish({ url: hook.url, body: `${i}`, flowControl: { key, rate: 2, period: 2 } })).messageId,
      );
    }
    await hook.wait(5);

    // By the server's clock: a request may reach us late.
    const { logs } = await t.client.logs({ messageIds: ids });
    const starts = logs
      .filter(({ state }) => state === "ACTIVE")
      .map(({ time }) => time)
      .sort((a, b) => a - b);
    assert.equal(starts.length, 5);
    // A period begins with the first start after the one before it.
    let [begun, count] = [-Infinity, 0];
    for (const start of starts) {
      [begun, count] = start >= begun + 1950 ? [start, 1] : [begun, count + 1];
      assert.ok(count <= 2, `${starts}`);
    }
  });

  it("counts a rate for each second unless a period is given", async () => {
    const messageId = await t.waiting({ flowControl: { key: t.name("key"), ratePerSecond: 7 } });

    const message = await t.client.messages.get(messageId);
    assert.equal(message.rate, 7);
    assert.equal(message.ratePerSecond, 7);
    assert.equal(message.period, 1);
    assert.equal("parallelism" in message, false);
  });

  for (const [period, seconds] of [
    ["1m", 60],
    [90, 90],
    ["2h", 7200],
    ["7d", 604800],
  ]) {
    it(`shows the period ${period} in seconds`, async () => {
      const messageId = await t.waiting({ flowControl: { key: t.name("key"), rate: 1, period } });

      assert.equal((await t.client.messages.get(messageId)).period, seconds);
    });
  }

  it("applies both limits when both are given", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();

    for (let i = 0; i < 4; i += 1)
      await t.client.publish({
        url: hook.url,
        body: `${i}`,
        flowControl: { key, parallelism: 1, rate: 100, period: "1h" },
      });
    await hook.one();
    await t.settle();

    assert.equal(hook.requests.length, 1);
    hook.release();
    await hook.wait(4);
    assert.equal(hook.runningMax, 1);
  });

  it("uses the configuration that came last", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();

    for (let i = 0; i < 3; i += 1)
      await t.client.publish({ url: hook.url, body: `${i}`, flowControl: { key, parallelism: 1 } });
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);
    await t.client.publish({ url: hook.url, body: "3", flowControl: { key, parallelism: 10 } });

    await waitFor(
      () => hook.running === 4,
      () => `4 at once; there were ${hook.running}`,
    );
    hook.release();
  });

  it("does not touch messages of another key or of none", async () => {
    const hook = t.hook().hold();
    const [other, none] = [t.hook(), t.hook()];
    await t.client.publish({ url: hook.url, body: "x", flowControl: { key: t.name("key"), parallelism: 1 } });
    await hook.one();

    await t.client.publish({ url: other.url, body: "x", flowControl: { key: t.name("key"), parallelism: 1 } });
    await t.client.publish({ url: none.url, body: "x" });

    await other.one();
    await none.one();
    hook.release();
  });

  it("writes nothing into the log for waiting", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();
    await t.client.publish({ url: hook.url, body: "1", flowControl: { key, parallelism: 1 } });
    await hook.one();
    const { messageId } = await t.client.publish({ url: hook.url, body: "2", flowControl: { key, parallelism: 1 } });
    await t.settle();
    assert.deepEqual(await t.states(messageId), ["CREATED"]);

    hook.release();

    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
    assert.equal((await t.log(messageId))[0].flowControlKey, key);
  });

  it("takes keys with any text", async () => {
    for (const key of ["with spaces", "with/slash", "a=b,c", "x".repeat(256)]) {
      const messageId = await t.waiting({ flowControl: { key, parallelism: 1 } });
      assert.equal((await t.client.messages.get(messageId)).flowControlKey, key);
    }
  });

  it("takes the parts in any order, with or without spaces", async () => {
    const publish = async (value) => {
      const answer = await t.raw("POST", `/v2/publish/${t.hook().url}`, {
        headers: {
          "Upstash-Delay": "1h",
          "Upstash-Flow-Control-Key": t.name("key"),
          "Upstash-Flow-Control-Value": value,
        },
      });
      const { parallelism, rate, period } = await t.client.messages.get(answer.json().messageId);
      return [parallelism, rate, period];
    };

    assert.deepEqual(await publish("period=1m,rate=10,parallelism=3"), [3, 10, 60]);
    assert.deepEqual(await publish("  rate = 5 ,  parallelism = 2 "), [2, 5, 1]);
  });

  it("is refused with a part that is there twice or that nobody knows", async () => {
    const row = (value) => [
      value,
      "POST",
      `/v2/publish/${t.hook().url}`,
      { headers: { "Upstash-Flow-Control-Key": "k", "Upstash-Flow-Control-Value": value } },
      400,
      /Upstash-Flow-Control-Value/,
    ];
    await t.refusals([row("rate=1,rate=2"), row("parallelism=1,rate=1,parallelism=1"), row("rate=1,burst=2")]);
  });

  it("is refused by the client without a limit", async () => {
    await assert.rejects(
      t.client.publish({ url: t.hook().url, flowControl: { key: "k" } }),
      /at least one of parallelism/,
    );
  });
});

// The keys themselves: read, pause, pin, reset; and the parallelism of the whole server.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, waitFor, world } from "./harness.mjs";

const FIELDS = [
  "flowControlKey",
  "isPaused",
  "isPinnedParallelism",
  "isPinnedRate",
  "parallelismCount",
  "parallelismMax",
  "rateCount",
  "rateMax",
  "ratePeriod",
  "ratePeriodStart",
  "waitListSize",
];

describe("flow control API", () => {
  const t = world();

  const publish = (hook, key, limits, body = "x") =>
    t.client.publish({ url: hook.url, body, flowControl: { key, ...limits } });

  it("shows a key with all its fields", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();
    for (let i = 0; i < 3; i += 1) await publish(hook, key, { parallelism: 2, rate: 10, period: "1m" });
    await waitFor(() => hook.running === 2, "2 at once");

    const shown = await waitFor(async () => {
      const info = await t.client.flowControl.get(key);
      return info.waitListSize === 1 && info;
    }, "one to wait");

    assert.deepEqual(Object.keys(shown).sort(), FIELDS);
    assert.equal(shown.flowControlKey, key);
    assert.equal(shown.parallelismMax, 2);
    assert.equal(shown.parallelismCount, 2);
    assert.equal(shown.rateMax, 10);
    assert.equal(shown.rateCount, 2);
    assert.equal(shown.ratePeriod, 60);
    assert.ok(Math.abs(Date.now() / 1000 - shown.ratePeriodStart) < 90, `${shown.ratePeriodStart} is not in seconds`);
    assert.deepEqual([shown.isPaused, shown.isPinnedParallelism, shown.isPinnedRate], [false, false, false]);
    hook.release();
    await waitFor(async () => (await t.client.flowControl.get(key)).parallelismCount === 0, "none to run");
  });

  it("shows 0 for a limit that is not set", async () => {
    const [wide, narrow] = [t.name("key"), t.name("key")];
    await publish(t.hook(), wide, { rate: 5 });
    await publish(t.hook(), narrow, { parallelism: 5 });

    assert.equal((await t.client.flowControl.get(wide)).parallelismMax, 0);
    assert.equal((await t.client.flowControl.get(narrow)).rateMax, 0);
  });

  it("lists keys, and those with a text in them", async () => {
    await publish(t.hook(), "list-alpha", { parallelism: 1 });
    await publish(t.hook(), "list-beta", { parallelism: 1 });

    const keys = async (query) =>
      (await t.raw("GET", `/v2/flowControl${query}`)).json().map(({ flowControlKey }) => flowControlKey);

    assert.ok((await keys("")).includes("list-alpha"));
    assert.ok((await keys("/")).includes("list-beta"));
    assert.deepEqual(await keys("?search=alph"), ["list-alpha"]);
    assert.deepEqual(await keys("?search=nothing-has-this"), []);
  });

  it("pauses and resumes a key", async () => {
    const key = t.name("key");
    const hook = t.hook();
    await publish(hook, key, { parallelism: 5 });
    await hook.one();

    await t.client.flowControl.pause(key);
    for (let i = 0; i < 3; i += 1) await publish(hook, key, { parallelism: 5 });
    await t.settle();

    assert.equal(hook.requests.length, 1);
    const shown = await t.client.flowControl.get(key);
    assert.equal(shown.isPaused, true);
    assert.equal(shown.waitListSize, 3);
    await t.client.flowControl.resume(key);
    await hook.wait(4);
    assert.equal((await t.client.flowControl.get(key)).isPaused, false);
  });

  it("pauses a key before its first message", async () => {
    const key = t.name("key");
    const hook = t.hook();

    await t.client.flowControl.pause(key);
    await publish(hook, key, { parallelism: 1 });
    await t.settle();

    assert.equal(hook.requests.length, 0);
    await t.client.flowControl.resume(key);
    await hook.one();
  });

  it("pins parallelism against what messages bring, until it is unpinned", async () => {
    const key = t.name("key");
    const hook = t.hook().hold();
    await t.client.flowControl.pin(key, { parallelism: 1 });

    for (let i = 0; i < 3; i += 1) await publish(hook, key, { parallelism: 3 });
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);
    let shown = await t.client.flowControl.get(key);
    assert.equal(shown.isPinnedParallelism, true);
    assert.equal(shown.isPinnedRate, false);
    assert.equal(shown.parallelismMax, 1);

    await t.client.flowControl.unpin(key, { parallelism: true });
    shown = await t.client.flowControl.get(key);
    assert.equal(shown.isPinnedParallelism, false);
    assert.equal(shown.parallelismMax, 1, "the pinned value stays until a message brings another");
    await publish(hook, key, { parallelism: 4 });

    await waitFor(
      () => hook.running === 4,
      () => `4 at once; there were ${hook.running}`,
    );
    assert.equal((await t.client.flowControl.get(key)).parallelismMax, 4);
    hook.release();
  });

  it("pins a rate with its period", async () => {
    const key = t.name("key");
    await t.client.flowControl.pin(key, { rate: 3, period: 120 });
    await publish(t.hook(), key, { rate: 50, period: "1s" });

    const shown = await t.client.flowControl.get(key);

    assert.equal(shown.isPinnedRate, true);
    assert.equal(shown.rateMax, 3);
    assert.equal(shown.ratePeriod, 120);
    await t.client.flowControl.unpin(key, { rate: true });
    assert.equal((await t.client.flowControl.get(key)).isPinnedRate, false);
  });

  it("resets a rate, and what waited for it starts at once", async () => {
    const key = t.name("key");
    const hook = t.hook();
    for (let i = 0; i < 2; i += 1) await publish(hook, key, { rate: 1, period: "1h" });
    await hook.one();
    await t.settle();
    assert.equal(hook.requests.length, 1);

    await t.client.flowControl.resetRate(key);

    await hook.wait(2);
    assert.equal((await t.client.flowControl.get(key)).rateCount, 1);
  });

  it("takes keys with slashes and spaces in the path", async () => {
    for (const key of ["team/a/b", "with space"]) {
      await publish(t.hook(), key, { parallelism: 1 });
      assert.equal((await t.client.flowControl.get(key)).flowControlKey, key);
      await t.client.flowControl.pause(key);
      assert.equal((await t.client.flowControl.get(key)).isPaused, true);
      await t.client.flowControl.resume(key);
    }
  });

  it("shows the parallelism of the whole server", async () => {
    const hook = t.hook().hold();
    for (let i = 0; i < 3; i += 1) await t.client.publish({ url: hook.url, body: `${i}` });
    await waitFor(() => hook.running === 3, "3 at once");

    const { parallelismMax, parallelismCount } = await t.client.flowControl.getGlobalParallelism();

    assert.ok(parallelismMax >= 1);
    assert.ok(parallelismCount >= 3 && parallelismCount <= parallelismMax, `${parallelismCount}`);
    hook.release();
    await waitFor(
      async () => (await t.client.flowControl.getGlobalParallelism()).parallelismCount === 0,
      "none to run",
    );
  });

  it("needs the token", async () => {
    const verbs = ["pause", "resume", "pin", "unpin", "resetRate"];
    await t.needToken(
      ["GET", "/v2/flowControl"],
      ["GET", "/v2/flowControl/key"],
      ...verbs.map((verb) => ["POST", `/v2/flowControl/key/${verb}?parallelism=1`]),
      ["GET", "/v2/globalParallelism"],
    );
  });

  it("refuses what makes no sense", async () => {
    await publish(t.hook(), "known", { parallelism: 1 });
    const post = (name, target, status = 400) => [name, "POST", `/v2/flowControl/${target}`, {}, status];
    await t.refusals([
      ["unknown key", "GET", "/v2/flowControl/nobody", {}, 404],
      post("pin: parallelism 0", "known/pin?parallelism=0"),
      post("pin: negative", "known/pin?parallelism=-1"),
      post("pin: word", "known/pin?parallelism=many"),
      post("pin: rate 0", "known/pin?rate=0"),
      post("pin: period 0", "known/pin?rate=1&period=0"),
      post("pin: period too long", "known/pin?rate=1&period=604801"),
      post("pin: huge", "known/pin?parallelism=99999999999999999999"),
      post("unpin: word", "known/unpin?parallelism=perhaps"),
      ["method", "PUT", "/v2/flowControl/known", {}, 405],
    ]);
    await refused(t.client.flowControl.get("nobody"), 404);
    const shown = await t.client.flowControl.get("known");
    assert.deepEqual([shown.parallelismMax, shown.isPinnedParallelism, shown.isPinnedRate], [1, false, false]);
  });
});

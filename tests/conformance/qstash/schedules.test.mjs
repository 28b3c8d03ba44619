// Schedules. Those that must fire wait for the next minute together: the tests run at the same time.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { A_MINUTE, assertRecent, base64, minuteAfter, refused, waitFor, world } from "./harness.mjs";

describe("schedules", { concurrency: true }, () => {
  const t = world();

  const create = (request) =>
    t.client.schedules.create({ destination: `${t.receiver.url}/never`, cron: "0 0 1 1 *", ...request });
  const get = (scheduleId) => t.client.schedules.get(scheduleId);

  it("are created, shown, listed and deleted", async () => {
    const { scheduleId } = await create({ body: "hello" });

    assert.match(scheduleId, /^scd_.+/);
    const shown = await get(scheduleId);
    assert.equal(shown.scheduleId, scheduleId);
    assert.equal(shown.cron, "0 0 1 1 *");
    assert.equal(shown.destination, `${t.receiver.url}/never`);
    assert.equal(shown.method, "POST");
    assert.equal(shown.body, "hello");
    assert.deepEqual(shown.header, { "Content-Type": ["application/json"] });
    assert.equal(shown.retries, 3);
    assert.equal(shown.isPaused, false);
    assert.equal(shown.callerIP, "127.0.0.1");
    assert.equal(shown.callerIp, "127.0.0.1");
    assertRecent(shown.createdAt);
    const next = new Date(shown.nextScheduleTime);
    assert.deepEqual(
      [next.getUTCMonth(), next.getUTCDate(), next.getUTCHours(), next.getUTCMinutes(), next.getTime() % 60_000],
      [0, 1, 0, 0, 0],
    );
    assert.ok(next > Date.now());
    for (const absent of [
      "delay",
      "timeout",
      "callback",
      "queueName",
      "lastScheduleTime",
      "lastScheduleStates",
      "error",
      "label",
    ]) {
      assert.equal(absent in shown, false, absent);
    }
    assert.deepEqual(
      (await t.client.schedules.list()).find((one) => one.scheduleId === scheduleId),
      shown,
    );

    await t.client.schedules.delete(scheduleId);
    await refused(get(scheduleId), 404);
    assert.equal(
      (await t.client.schedules.list()).some((one) => one.scheduleId === scheduleId),
      false,
    );
  });

  it("show every option", async () => {
    const { scheduleId } = await create({
      scheduleId: t.name("schedule"),
      method: "PUT",
      headers: { "X-A": "1", "Content-Type": "a/b" },
      delay: "1m",
      timeout: 20,
      retries: 7,
      retryDelay: "1000",
      callback: "http://127.0.0.1/cb",
      failureCallback: "http://127.0.0.1/fcb",
      queueName: "scheduled",
      flowControl: { key: "scheduled", parallelism: 2, rate: 3, period: "1m" },
      label: ["one", "two"],
    });

    const shown = await get(scheduleId);

    assert.equal(shown.method, "PUT");
    assert.deepEqual(shown.header, { "Content-Type": ["a/b"], "X-A": ["1"] });
    assert.equal("body" in shown, false);
    assert.equal(shown.delay, 60);
    assert.equal(shown.timeout, 20);
    assert.equal(shown.retries, 7);
    assert.equal(shown.retryDelayExpression, "1000");
    assert.equal(shown.callback, "http://127.0.0.1/cb");
    assert.equal(shown.failureCallback, "http://127.0.0.1/fcb");
    assert.equal(shown.queueName, "scheduled");
    assert.deepEqual(
      [shown.flowControlKey, shown.parallelism, shown.rate, shown.ratePerSecond, shown.period],
      ["scheduled", 2, 3, 3, 60],
    );
    assert.equal(shown.label, "one");
    assert.deepEqual(shown.labels, ["one", "two"]);
  });

  it("keep a body that is not text", async () => {
    const { scheduleId } = await create({ body: Buffer.from([0xff, 0x00]) });

    const shown = await get(scheduleId);
    assert.equal(shown.bodyBase64, base64(Buffer.from([0xff, 0x00])));
    assert.equal("body" in shown, false);
  });

  it("are replaced entirely under the same id", async () => {
    const scheduleId = t.name("schedule");
    assert.deepEqual(await create({ scheduleId, body: "old", retries: 1, label: "old" }), { scheduleId });
    const old = await get(scheduleId);
    await t.client.schedules.pause({ schedule: scheduleId });

    await create({ scheduleId, cron: "5 4 * * *" });

    const shown = await get(scheduleId);
    assert.equal(shown.cron, "5 4 * * *");
    assert.equal("body" in shown, false);
    assert.equal("label" in shown, false);
    assert.equal(shown.retries, 3);
    assert.equal(shown.createdAt, old.createdAt);
    assert.equal(shown.isPaused, true);
    assert.equal((await t.client.schedules.list()).filter((one) => one.scheduleId === scheduleId).length, 1);
  });

  for (const [cron, shown = cron] of [
    ["*/10 * * * * ", "*/10 * * * *"],
    ["0 9-17/2 1,15 JAN-mar mon-FRI"],
    ["? ? ? ? ?"],
    ["0 0 * * 7"],
    ["@hourly"],
    ["CRON_TZ=Europe/Berlin 0 4 * * *"],
    ["TZ=Asia/Tokyo 0 4 * * *"],
  ]) {
    it(`understand the cron "${cron}"`, async () => {
      const { scheduleId } = await create({ cron });

      assert.equal((await get(scheduleId)).cron, shown);
    });
  }

  it("count in the zone that the cron names", async () => {
    const hour = async (cron) =>
      new Date((await get((await create({ cron })).scheduleId)).nextScheduleTime).getUTCHours();

    assert.equal(await hour("30 4 * * *"), 4);
    assert.equal(await hour("CRON_TZ=Asia/Tokyo 30 4 * * *"), 19);
    assert.equal(await hour("CRON_TZ=UTC 30 4 * * *"), 4);
  });

  it("take either day when both are restricted", async () => {
    const { scheduleId } = await create({ cron: "0 0 13 * 5" });

    const next = new Date((await get(scheduleId)).nextScheduleTime);
    assert.ok(next.getUTCDay() === 5 || next.getUTCDate() === 13, `${next}`);
    assert.ok(next - Date.now() < 8 * 86_400_000, "Fridays count without the thirteenth");
  });

  it("are paused and resumed with PATCH and with POST, again and again", async () => {
    const { scheduleId } = await create({ scheduleId: t.name("schedule") });
    const paused = async () => (await get(scheduleId)).isPaused;

    for (const round of [1, 2]) await t.client.schedules.pause({ schedule: scheduleId, round });
    assert.equal(await paused(), true);
    for (const round of [1, 2]) await t.client.schedules.resume({ schedule: scheduleId, round });
    assert.equal(await paused(), false);
    assert.equal((await t.raw("POST", `/v2/schedules/${scheduleId}/pause`)).status, 200);
    assert.equal(await paused(), true);
    assert.equal((await t.raw("POST", `/v2/schedules/${scheduleId}/resume`)).status, 200);
    assert.equal(await paused(), false);
  });

  it("are found under the name that the Go client writes", async () => {
    const { scheduleId } = await create({});

    assert.equal((await t.raw("GET", `/v2/Schedules/${scheduleId}`)).json().scheduleId, scheduleId);
    assert.equal((await t.raw("GET", "/v2/schedules/")).status, 200);
  });

  it("fire at the minute, with everything that a publish can have", async () => {
    const hook = t.hook();
    const { scheduleId } = await create({
      destination: `${hook.url}?a=b`,
      cron: "* * * * *",
      method: "PUT",
      body: '{"tick":1}',
      headers: { "X-A": "1" },
      label: "tick",
      retries: 2,
    });
    const { createdAt, nextScheduleTime } = await get(scheduleId);
    assert.ok(nextScheduleTime - Date.now() <= 61_000 && nextScheduleTime % 60_000 === 0, `${nextScheduleTime}`);

    const request = await hook.one(A_MINUTE);

    // Not nextScheduleTime: a minute may have begun between the two calls above.
    assert.ok(request.at >= minuteAfter(createdAt) - 50, `${request.at} is too early after ${createdAt}`);
    assert.equal(request.method, "PUT");
    assert.equal(request.text, '{"tick":1}');
    assert.equal(request.headers["content-type"], "application/json");
    assert.equal(request.headers["x-a"], "1");
    assert.equal(request.headers["upstash-schedule-id"], scheduleId);
    assert.equal(request.headers["upstash-caller-ip"], "127.0.0.1");
    await t.verified(request, undefined, `${hook.url}?a=b`);
    const messageId = request.headers["upstash-message-id"];
    const message = await t.client.messages.get(messageId);
    assert.equal(message.scheduleId, scheduleId);
    assert.equal(message.maxRetries, 2);
    assert.deepEqual(message.labels, ["tick"]);
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
    assert.deepEqual((await t.client.logs({ filter: { scheduleId } })).logs.map((entry) => entry.state).slice(-3), [
      "DELIVERED",
      "ACTIVE",
      "CREATED",
    ]);
    const shown = await waitFor(async () => {
      const one = await get(scheduleId);
      return one.lastScheduleStates?.[messageId] === "SUCCESS" && one;
    }, "the schedule to show its run");
    assert.ok(
      shown.lastScheduleTime >= shown.createdAt && shown.lastScheduleTime < shown.nextScheduleTime,
      JSON.stringify(shown),
    );
    await t.client.schedules.delete(scheduleId);
  });

  it("fire for each endpoint of a group as it is then", async () => {
    const name = t.name("group");
    const [a, b] = [t.hook(), t.hook()];
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: a.url }] });
    const { scheduleId } = await create({ destination: name, cron: "* * * * *", body: "x" });
    await t.client.urlGroups.addEndpoints({ name, endpoints: [{ url: b.url }] });

    for (const hook of [a, b]) {
      const { headers } = await hook.one(A_MINUTE);
      assert.equal(headers["upstash-schedule-id"], scheduleId);
      assert.equal(headers["upstash-topic-name"], name);
    }
    await t.client.schedules.delete(scheduleId);
  });

  it("fire into a queue, after a delay, redacted, with callbacks", async () => {
    const [queued, delayed, callback] = [t.hook(), t.hook(), t.hook()];
    const queueName = t.name("queue");
    await create({ destination: queued.url, cron: "* * * * *", body: "secret", queueName, redact: { body: true } });
    await create({ destination: delayed.url, cron: "* * * * *", body: "x", delay: 1, callback: callback.url });

    const first = await queued.one(A_MINUTE);
    const message = await t.client.messages.get(first.headers["upstash-message-id"]);
    assert.equal(message.queueName, queueName);
    assert.equal(message.body, `REDACTED:${createHash("sha256").update("secret").digest("hex")}`);
    assert.equal(first.text, "secret");
    const second = await delayed.one(A_MINUTE);
    const { createdAt, notBefore, scheduleId } = await t.client.messages.get(second.headers["upstash-message-id"]);
    assert.ok(notBefore - createdAt >= 1000, `${notBefore - createdAt}`);
    const body = JSON.parse((await callback.one()).text);
    assert.equal(body.scheduleId, scheduleId);
    assert.equal(body.status, 200);
  });

  it("skip what they miss while paused", async () => {
    const [paused, running] = [t.hook(), t.hook()];
    const { scheduleId } = await create({ destination: paused.url, cron: "* * * * *", body: "x" });
    await t.client.schedules.pause({ schedule: scheduleId });
    await t.settle();
    const before = paused.requests.length; // a minute may have begun before the pause
    await create({ destination: running.url, cron: "* * * * *", body: "x" });

    await running.one(A_MINUTE);
    await t.settle();
    const resumed = Date.now();
    await t.client.schedules.resume({ schedule: scheduleId });
    const { nextScheduleTime } = await get(scheduleId);
    await t.settle();

    for (const { at } of paused.requests.slice(before)) assert.ok(at >= minuteAfter(resumed) - 50, `${at}, ${resumed}`);
    assert.ok(nextScheduleTime > resumed - 1000);
    await t.client.schedules.delete(scheduleId);
  });

  it("do not fire any more when deleted; what they made is delivered", async () => {
    const [deleted, running] = [t.hook(), t.hook().hold()];
    const { scheduleId } = await create({ destination: deleted.url, cron: "* * * * *", body: "x" });
    await t.client.schedules.delete(scheduleId);
    await t.settle();
    const before = deleted.requests.length; // a minute may have begun before the delete
    const other = await create({ destination: running.url, cron: "* * * * *", body: "x" });

    const { headers } = await running.one(A_MINUTE);
    await t.client.schedules.delete(other.scheduleId);
    running.release();

    await t.waitStates(headers["upstash-message-id"], "CREATED", "ACTIVE", "DELIVERED");
    await t.settle();
    assert.equal(deleted.requests.length, before);
  });

  it("are made by Upstash-Cron on publish, too", async () => {
    const { scheduleId } = await t.client.publish({
      url: `${t.receiver.url}/never`,
      headers: { "Upstash-Cron": "0 0 1 1 *" },
    });

    assert.equal((await get(scheduleId)).cron, "0 0 1 1 *");
  });

  it("need the token", async () => {
    const { scheduleId } = await create({ scheduleId: t.name("schedule") });

    await t.needToken(
      ["POST", `/v2/schedules/${t.receiver.url}`],
      ["GET", "/v2/schedules"],
      ["GET", `/v2/schedules/${scheduleId}`],
      ["DELETE", `/v2/schedules/${scheduleId}`],
      ["PATCH", `/v2/schedules/${scheduleId}/pause`],
      ["PATCH", `/v2/schedules/${scheduleId}/resume`],
      ["POST", `/v2/schedules/${scheduleId}/pause`],
    );

    assert.equal((await get(scheduleId)).isPaused, false);
  });

  it("are refused when they make no sense", async () => {
    const url = `${t.receiver.url}/never`;
    const put = (name, headers, destination = url, status = 400, pattern = undefined) => [
      name,
      "POST",
      `/v2/schedules/${destination}`,
      { body: "x", headers },
      status,
      pattern,
    ];
    const cron = (text) => put(`cron "${text}"`, { "Upstash-Cron": text }, url, 400, /cron/i);
    const with_ = (name, headers) => put(name, { "Upstash-Cron": "* * * * *", ...headers });
    await t.refusals([
      put("no cron", {}, url, 400, /cron/i),
      ...[
        "",
        "hello",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * FOO *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "1,,2 * * * *",
        "-1 * * * *",
        "1.5 * * * *",
        "@sometimes",
        "CRON_TZ=Mars/Olympus * * * * *",
        "CRON_TZ=UTC",
        "x".repeat(5000),
      ].map(cron),
      put("no destination", { "Upstash-Cron": "* * * * *" }, ""),
      put("no scheme", { "Upstash-Cron": "* * * * *" }, "127.0.0.1/x"),
      put("unknown group", { "Upstash-Cron": "* * * * *" }, "no-such-group", 404),
      with_("id", { "Upstash-Schedule-Id": "a b" }),
      with_("retries", { "Upstash-Retries": "x" }),
      with_("method", { "Upstash-Method": "BREW" }),
      with_("delay", { "Upstash-Delay": "soon" }),
      with_("timeout", { "Upstash-Timeout": "x" }),
      with_("retry delay", { "Upstash-Retry-Delay": "x(" }),
      with_("callback", { "Upstash-Callback": "nowhere" }),
      with_("queue", { "Upstash-Queue-Name": "a b" }),
      with_("flow", { "Upstash-Flow-Control-Key": "k" }),
      with_("redact", { "Upstash-Redact-Fields": "url" }),
      ["get unknown", "GET", "/v2/schedules/nobody", {}, 404],
      ["delete unknown", "DELETE", "/v2/schedules/nobody", {}, 404],
      ["pause unknown", "PATCH", "/v2/schedules/nobody/pause", {}, 404],
      ["resume unknown", "PATCH", "/v2/schedules/nobody/resume", {}, 404],
      ["pause unknown by POST", "POST", "/v2/schedules/nobody/pause", {}, 404],
      ["method", "PUT", "/v2/schedules/nobody", {}, 405],
    ]);
    await refused(t.client.schedules.create({ destination: url, cron: "not a cron" }), 400, /cron/i);
  });
});

// messages.get and messages.cancel of one message.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { refused, waitFor, world } from "./harness.mjs";

describe("messages", () => {
  const t = world();

  it("can be read at once, and after they are delivered", async () => {
    const hook = t.hook();
    const { messageId } = await t.client.publish({ url: hook.url, body: "x" });

    assert.equal((await t.client.messages.get(messageId)).url, hook.url);
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
    assert.equal((await t.client.messages.get(messageId)).body, "x");
  });

  it("show text as text, bytes as base64, and nothing as nothing", async () => {
    const shown = async (body) => {
      const { body: text, bodyBase64 } = await t.client.messages.get(await t.waiting({ body }));
      return [text, bodyBase64];
    };

    assert.deepEqual(await shown('{"ü":"\u0001\\u2028\u{1F600}"}'), ['{"ü":"\u0001\\u2028\u{1F600}"}', undefined]);
    assert.deepEqual(await shown(Buffer.from([0xc3, 0x28])), [undefined, "wyg="]);
    assert.deepEqual(await shown(undefined), [undefined, undefined]);
  });

  it("have an empty header map when nothing is forwarded", async () => {
    const answer = await t.raw("POST", `/v2/publish/${t.hook().url}`, { headers: { "Upstash-Delay": "1h" } });

    assert.deepEqual((await t.client.messages.get(answer.json().messageId)).header, {});
  });

  it("are found with a slash at the end and in any letter case of the path", async () => {
    const messageId = await t.waiting();

    assert.equal((await t.raw("GET", `/v2/messages/${messageId}/`)).json().messageId, messageId);
    assert.equal((await t.raw("GET", `/v2/Messages/${messageId}`)).json().messageId, messageId);
  });

  it("are not delivered once cancelled", async () => {
    const hook = t.hook().hold();
    const publish = async (body) =>
      (await t.client.publish({ url: hook.url, body, flowControl: { key: "one-by-one", parallelism: 1 } })).messageId;
    await publish("first");
    await hook.one();
    const messageId = await publish("cancelled");

    assert.deepEqual(await t.client.messages.cancel(messageId), { cancelled: 1 });

    await t.waitStates(messageId, "CREATED", "CANCEL_REQUESTED", "CANCELED");
    await publish("last");
    hook.release();
    await hook.wait(2);
    assert.deepEqual(hook.bodies, ["first", "last"]);
  });

  it("are cancelled by delete, too", async () => {
    const messageId = await t.waiting();

    assert.equal(await t.client.messages.delete(messageId), undefined);

    await t.waitStates(messageId, "CREATED", "CANCEL_REQUESTED", "CANCELED");
  });

  it("are not retried when they are cancelled in flight", async () => {
    const hook = t.hook(500).hold();
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 5, retryDelay: "0" });
    await hook.one();

    assert.deepEqual(await t.client.messages.cancel(messageId), { cancelled: 1 });
    hook.release();

    await waitFor(async () => (await t.states(messageId)).at(-1) === "CANCELED", `${messageId} to be cancelled`);
    await t.settle();
    assert.equal(hook.requests.length, 1);
    assert.deepEqual((await t.client.dlq.listMessages({ filter: { messageId } })).messages, []);
  });

  it("count as delivered when they were cancelled in flight and arrive", async () => {
    const hook = t.hook(200).hold();
    const { messageId } = await t.client.publish({ url: hook.url, body: "x" });
    await hook.one();

    await t.client.messages.cancel(messageId);
    hook.release();

    await waitFor(async () => (await t.states(messageId)).at(-1) === "DELIVERED", `${messageId} to be delivered`);
  });

  it("are cancelled while they wait for a retry", async () => {
    const hook = t.hook(500);
    const { messageId } = await t.client.publish({ url: hook.url, body: "x", retries: 5, retryDelay: "3600000" });
    await t.waitStates(messageId, "CREATED", "ACTIVE", "ERROR", "RETRY");

    assert.deepEqual(await t.client.messages.cancel(messageId), { cancelled: 1 });

    await t.waitStates(messageId, "CREATED", "ACTIVE", "ERROR", "RETRY", "CANCEL_REQUESTED", "CANCELED");
  });

  it("cannot be cancelled when they are finished or unknown", async () => {
    const { messageId } = await t.client.publish({ url: t.hook().url, body: "x" });
    await t.waitStates(messageId, "CREATED", "ACTIVE", "DELIVERED");
    const cancelled = await t.waiting();
    await t.client.messages.cancel(cancelled);

    await refused(t.client.messages.cancel(messageId), 404);
    await refused(t.client.messages.cancel(cancelled), 404);
    await refused(t.client.messages.cancel("msg_unknown"), 404);
    await refused(t.client.messages.delete("msg_unknown"), 404);
    await refused(t.client.messages.get("msg_unknown"), 404);
    await assert.rejects(t.client.messages.get(""), /cannot be empty/);
    await assert.rejects(t.client.messages.cancel(""), /cannot be empty/);
  });

  it("refuse what they do not understand", async () => {
    await t.refusals([
      ["no such id", "GET", "/v2/messages/msg_nobody", {}, 404],
      ["not an id", "GET", "/v2/messages/nonsense", {}, 404],
      ["id with escapes", "GET", "/v2/messages/msg_%00", {}, 404],
      ["long id", "GET", `/v2/messages/msg_${"x".repeat(2000)}`, {}, 404],
      ["cancel: not an id", "DELETE", "/v2/messages/nonsense", {}, 404],
      ["below an id", "GET", "/v2/messages/msg_x/y", {}, 404],
      ["method", "PUT", "/v2/messages/msg_x", {}, 405],
    ]);
  });
});

// What SNS delivers, to queues and to subscribers over HTTP.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange } from "../lib/server.mjs";
import {
  assertRecent,
  binary,
  each,
  md5OfAttributes,
  number,
  text,
  TOGETHER,
  UUID,
  waitFor,
  world,
} from "./harness.mjs";
import { RAW, refused, topicsOf, UNKNOWN_TOPIC, verified } from "./topics.mjs";

describe("SNS delivery", TOGETHER, () => {
  const t = world({ receiver: true });
  const { topic, subscribe, publish, connected } = topicsOf(t);

  describe("delivery to queues", TOGETHER, () => {
    it("wraps the message in an envelope", async () => {
      const { TopicArn, queue, SubscriptionArn } = await connected();
      const { MessageId } = await publish(TopicArn, 'a "message" ü', {
        Subject: "a subject",
        MessageAttributes: { s: text("v"), n: number(1), b: binary([0, 255]) },
      });
      assert.match(MessageId, UUID);
      const got = await queue.take({ MessageAttributeNames: ["All"] });
      assert.equal("MessageAttributes" in got, false);
      assert.notEqual(got.MessageId, MessageId);
      const envelope = JSON.parse(got.Body);
      const { Timestamp, Signature, SigningCertURL, UnsubscribeURL, ...rest } = envelope;
      assert.deepEqual(Object.keys(envelope), [
        "Type",
        "MessageId",
        "TopicArn",
        "Subject",
        "Message",
        "Timestamp",
        "SignatureVersion",
        "Signature",
        "SigningCertURL",
        "UnsubscribeURL",
        "MessageAttributes",
      ]);
      assert.deepEqual(rest, {
        Type: "Notification",
        MessageId,
        TopicArn,
        Subject: "a subject",
        Message: 'a "message" ü',
        SignatureVersion: "1",
        MessageAttributes: {
          s: { Type: "String", Value: "v" },
          n: { Type: "Number", Value: "1" },
          b: { Type: "Binary", Value: "AP8=" },
        },
      });
      assert.match(Timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assertRecent(Date.parse(Timestamp));
      assert.ok(Signature && SigningCertURL.startsWith(t.server.url));
      assert.ok(UnsubscribeURL.startsWith(t.server.url) && UnsubscribeURL.includes(SubscriptionArn));

      await publish(TopicArn, "plain");
      const plain = JSON.parse((await queue.take()).Body);
      assert.equal("Subject" in plain || "MessageAttributes" in plain, false);
    });

    it("signs envelopes so that the certificate at their URL verifies them", async () => {
      for (const SignatureVersion of ["1", "2"]) {
        const { TopicArn, queue } = await connected({}, { SignatureVersion });
        for (const Subject of [undefined, "with subject"]) {
          await publish(TopicArn, "signed ü\nlines", { Subject });
          const envelope = JSON.parse((await queue.take()).Body);
          assert.equal(envelope.SignatureVersion, SignatureVersion);
          await verified(envelope);
        }
      }
    });

    it("is the message itself with its attributes when raw", async () => {
      const { TopicArn, queue } = await connected(RAW);
      const attributes = { s: text("v"), n: number(1), b: binary([0, 255]) };
      await publish(TopicArn, "raw", { Subject: "nowhere", MessageAttributes: attributes });
      const got = await queue.take({ MessageAttributeNames: ["All"] });
      assert.equal(got.Body, "raw");
      assert.equal(got.MD5OfMessageAttributes, md5OfAttributes(attributes));
    });

    it("goes to every queue, in the same moment", async () => {
      const TopicArn = await topic();
      const queues = await Promise.all(Array.from({ length: 5 }, () => t.queue()));
      await Promise.all(queues.map((queue) => subscribe(TopicArn, queue, RAW)));
      await publish(TopicArn, "to all");
      for (const queue of queues) assert.deepEqual(await queue.bodies(), ["to all"]);
    });

    it("wakes who waits", async () => {
      const { TopicArn, queue } = await connected(RAW);
      const waiting = queue.take();
      await publish(TopicArn, "x");
      assert.equal((await waiting).Body, "x");
    });

    it("sends each protocol its own text", async () => {
      const { TopicArn, queue } = await connected(RAW);
      const json = { MessageStructure: "json" };
      await publish(TopicArn, JSON.stringify({ default: "d", sqs: "for queues" }), json);
      await publish(TopicArn, JSON.stringify({ default: "for all" }), json);
      assert.deepEqual(await queue.bodies(), ["for queues", "for all"]);
      for (const bad of ["nonsense", "[]", JSON.stringify({ sqs: "x" })])
        await refused(publish(TopicArn, bad, json), "InvalidParameter");
    });

    it("passes on the group to standard queues, and drops what does not fit raw", async () => {
      const { TopicArn, queue } = await connected(RAW);
      await publish(TopicArn, "grouped", { MessageGroupId: "tenant" });
      assert.equal((await queue.take()).Attributes.MessageGroupId, "tenant");
      await refused(publish(TopicArn, "x", { MessageDeduplicationId: "d" }), "InvalidParameter");

      const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text("x")]));
      await publish(TopicArn, "too many attributes", { MessageAttributes: eleven });
      await publish(TopicArn, "next");
      assert.deepEqual(await queue.bodies(), ["next"]);
    });

    it("keeps what cannot be delivered in the subscription's dead-letter queue", async () => {
      const dead = await t.queue();
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn });
      const { TopicArn, queue } = await connected({ ...RAW, RedrivePolicy });
      await t.sqs.deleteQueue({ QueueUrl: queue.url });
      await publish(TopicArn, "nowhere to go");
      assert.match((await dead.take()).Body, /nowhere to go/);
    });

    it("refuses what is no message", async () => {
      const TopicArn = await topic();
      await each(
        [
          ["unknown topic", { TopicArn: UNKNOWN_TOPIC, Message: "x" }, "NotFound"],
          ["empty", { TopicArn, Message: "" }, "InvalidParameter"],
          ["too large", { TopicArn, Message: "x".repeat(262_145) }, "InvalidParameter"],
          ["long subject", { TopicArn, Message: "x", Subject: "x".repeat(101) }, "InvalidParameter"],
          ["bad attribute", { TopicArn, Message: "x", MessageAttributes: { a: text("") } }, "ParameterValueInvalid"],
          [
            "bad type",
            { TopicArn, Message: "x", MessageAttributes: { a: text("x", "Text") } },
            "ParameterValueInvalid",
          ],
        ],
        (_, input, code) => refused(t.sns.publish(input), code),
      );
      await publish(TopicArn, "x".repeat(262_144));
    });
  });

  describe("subscribers over HTTP", TOGETHER, () => {
    const hookUp = async (Attributes, more = {}) => {
      const [TopicArn, hook] = [await topic(), t.receiver.hook()];
      const { SubscriptionArn } = await t.sns.subscribe({
        TopicArn,
        Protocol: "http",
        Endpoint: hook.url,
        Attributes,
        ...more,
      });
      const request = await hook.one();
      return { TopicArn, hook, SubscriptionArn, request, confirmation: JSON.parse(request.text) };
    };
    const get = (url) => {
      const { pathname, search } = new URL(url);
      return exchange(t.server.port, "GET", pathname + search);
    };

    it("are asked to confirm, with a signed message", async () => {
      const { TopicArn, SubscriptionArn, request, confirmation } = await hookUp();
      assert.equal(SubscriptionArn, "pending confirmation");
      assert.deepEqual(Object.keys(confirmation), [
        "Type",
        "MessageId",
        "Token",
        "TopicArn",
        "Message",
        "SubscribeURL",
        "Timestamp",
        "SignatureVersion",
        "Signature",
        "SigningCertURL",
      ]);
      assert.deepEqual([confirmation.Type, confirmation.TopicArn], ["SubscriptionConfirmation", TopicArn]);
      const { method, headers } = request;
      assert.equal(method, "POST");
      assert.equal(headers["content-type"].toLowerCase(), "text/plain; charset=utf-8");
      assert.equal(headers["x-amz-sns-message-type"], "SubscriptionConfirmation");
      assert.equal(headers["x-amz-sns-message-id"], confirmation.MessageId);
      assert.equal(headers["x-amz-sns-topic-arn"], TopicArn);
      assert.ok(headers["user-agent"]);
      await verified(confirmation);
      const { Attributes } = await t.sns.getTopicAttributes({ TopicArn });
      assert.deepEqual([Attributes.SubscriptionsPending, Attributes.SubscriptionsConfirmed], ["1", "0"]);
      const [listed] = (await t.sns.listSubscriptionsByTopic({ TopicArn })).Subscriptions;
      assert.equal(listed.SubscriptionArn, "PendingConfirmation");
    });

    it("get nothing before they confirm by the link, and signed messages after", async () => {
      const { TopicArn, hook, confirmation } = await hookUp();
      await publish(TopicArn, "before");
      const answer = await get(confirmation.SubscribeURL);
      assert.equal(answer.status, 200, answer.text);
      const arn = /<SubscriptionArn>([^<]+)</.exec(answer.text)?.[1];
      assert.ok(arn?.startsWith(`${TopicArn}:`), answer.text);

      const { MessageId } = await publish(TopicArn, "after", { Subject: "s", MessageAttributes: { a: text("b") } });
      const [, request] = await hook.wait(2);
      const envelope = JSON.parse(request.text);
      assert.deepEqual(
        [envelope.Type, envelope.MessageId, envelope.Message, envelope.Subject],
        ["Notification", MessageId, "after", "s"],
      );
      assert.deepEqual(envelope.MessageAttributes, { a: { Type: "String", Value: "b" } });
      const { headers } = request;
      assert.deepEqual(
        [
          headers["x-amz-sns-message-type"],
          headers["x-amz-sns-message-id"],
          headers["x-amz-sns-topic-arn"],
          headers["x-amz-sns-subscription-arn"],
        ],
        ["Notification", MessageId, TopicArn, arn],
      );
      await verified(envelope);
    });

    it("confirm by the API with the token, and by no other", async () => {
      const { TopicArn, hook, SubscriptionArn, confirmation } = await hookUp({}, { ReturnSubscriptionArn: true });
      assert.ok(SubscriptionArn.startsWith(`${TopicArn}:`));
      await refused(t.sns.confirmSubscription({ TopicArn, Token: "nonsense" }), "InvalidParameter");
      const confirmed = await t.sns.confirmSubscription({ TopicArn, Token: confirmation.Token });
      assert.equal(confirmed.SubscriptionArn, SubscriptionArn);
      await publish(TopicArn, "x");
      await hook.wait(2);
    });

    it("get raw messages, and filtered ones", async () => {
      const FilterPolicy = JSON.stringify({ k: ["yes"] });
      const { TopicArn, hook, confirmation } = await hookUp({ ...RAW, FilterPolicy });
      await t.sns.confirmSubscription({ TopicArn, Token: confirmation.Token });
      await publish(TopicArn, "no", { MessageAttributes: { k: text("no") } });
      await publish(TopicArn, "raw", { MessageAttributes: { k: text("yes") } });
      const [, request] = await hook.wait(2);
      assert.deepEqual([request.text, request.headers["x-amz-sns-rawdelivery"]], ["raw", "true"]);
    });

    it("are tried as often as the policy says; then it is a dead letter", async () => {
      const dead = await t.queue();
      const retries = { numRetries: 2, minDelayTarget: 0, maxDelayTarget: 0 };
      const { TopicArn, hook, confirmation } = await hookUp({
        ...RAW,
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn }),
        DeliveryPolicy: JSON.stringify({ healthyRetryPolicy: retries }),
      });
      await t.sns.confirmSubscription({ TopicArn, Token: confirmation.Token });
      hook.answers = [{ status: 500 }];
      await publish(TopicArn, "nobody takes it");
      assert.equal((await dead.take()).Body, "nobody takes it");
      assert.deepEqual(hook.bodies.slice(1), ["nobody takes it", "nobody takes it", "nobody takes it"]);
    });

    it("stay when the link needs a signature", async () => {
      const { TopicArn, hook, confirmation } = await hookUp();
      const { Token } = confirmation;
      const { SubscriptionArn } = await t.sns.confirmSubscription({
        TopicArn,
        Token,
        AuthenticateOnUnsubscribe: "true",
      });
      await publish(TopicArn, "x");
      const [, request] = await hook.wait(2);
      assert.equal((await get(JSON.parse(request.text).UnsubscribeURL)).status, 403);
      const { Attributes } = await t.sns.getSubscriptionAttributes({ SubscriptionArn });
      assert.equal(Attributes.ConfirmationWasAuthenticated, "true");
      await t.sns.unsubscribe({ SubscriptionArn });
    });

    it("leave by the link in the message", async () => {
      const { TopicArn, hook, confirmation } = await hookUp();
      await get(confirmation.SubscribeURL);
      await publish(TopicArn, "x");
      const [, request] = await hook.wait(2);
      const answer = await get(JSON.parse(request.text).UnsubscribeURL);
      assert.equal(answer.status, 200, answer.text);
      await waitFor(
        async () => ((await t.sns.listSubscriptionsByTopic({ TopicArn })).Subscriptions ?? []).length === 0,
        "the subscription to be gone",
      );
    });
  });
});

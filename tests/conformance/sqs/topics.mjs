// What the tests of SNS share.
import assert from "node:assert/strict";
import { createVerify, X509Certificate } from "node:crypto";
import { ACCOUNT, REGION, unique } from "./harness.mjs";

export const UNKNOWN_TOPIC = `arn:aws:sns:${REGION}:${ACCOUNT}:no-such-topic`;
export const RAW = { RawMessageDelivery: "true" };
const STATUS = { NotFound: 404, ResourceNotFound: 404, AuthorizationError: 403 };

/** The client's call is refused with this code. */
export async function refused(call, code, pattern) {
  const error = await call.then(
    (value) => assert.fail(`was not refused but answered ${JSON.stringify({ ...value, $metadata: undefined })}`),
    (reason) => reason,
  );
  if (!error.$metadata?.httpStatusCode) throw error;
  const got = [error.Code ?? error.Error?.Code, error.$metadata.httpStatusCode];
  assert.deepEqual(got, [code, STATUS[code] ?? 400], error.message);
  if (pattern) assert.match(error.message, pattern);
}

/** Every page of a list. */
export async function pages(call) {
  const all = [];
  let NextToken;
  do {
    const page = await call(NextToken);
    all.push(...(page.Topics ?? page.Subscriptions ?? []));
    ({ NextToken } = page);
  } while (NextToken);
  return all;
}

/** The signature of an envelope or confirmation is good for the certificate at its URL. */
export async function verified(message) {
  const names =
    message.Type === "Notification"
      ? ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]
      : ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
  const signed = names.filter((name) => message[name] !== undefined).map((name) => `${name}\n${message[name]}\n`);
  const pem = await (await fetch(message.SigningCertURL)).text();
  const { publicKey } = new X509Certificate(pem);
  const good = (content) =>
    createVerify(message.SignatureVersion === "2" ? "RSA-SHA256" : "RSA-SHA1")
      .update(content)
      .verify(publicKey, message.Signature, "base64");
  assert.ok(good(signed.join("")), "the signature is wrong");
  assert.ok(!good(`${signed.join("")} `));
}

/** Topics, and queues subscribed to them, in this world. */
export function topicsOf(t) {
  async function topic(Attributes = {}) {
    const Name = unique("topic") + (Attributes.FifoTopic ? ".fifo" : "");
    return (await t.sns.createTopic({ Name, Attributes })).TopicArn;
  }
  const subscribe = async (TopicArn, queue, Attributes) =>
    (await t.sns.subscribe({ TopicArn, Protocol: "sqs", Endpoint: queue.arn, Attributes, ReturnSubscriptionArn: true }))
      .SubscriptionArn;
  const publish = (TopicArn, Message, more = {}) => t.sns.publish({ TopicArn, Message, ...more });

  /** A topic with one queue subscribed to it. */
  async function connected(attributes = {}, topicAttributes = {}) {
    const [TopicArn, queue] = [
      await topic(topicAttributes),
      topicAttributes.FifoTopic ? await t.fifo() : await t.queue(),
    ];
    return { TopicArn, queue, SubscriptionArn: await subscribe(TopicArn, queue, attributes) };
  }
  return { topic, subscribe, publish, connected };
}

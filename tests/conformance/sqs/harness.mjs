// What the tests of one area share: a server, the official clients, queues of their own, and what is asserted everywhere.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { SNS } from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import { Receiver } from "../lib/receiver.mjs";
import { exchange, Server, waitFor } from "../lib/server.mjs";
import "../lib/watch.mjs";
import { CREDENTIALS, REGION } from "./sigv4.mjs";
import { callJson, callQuery } from "./wire.mjs";

export { CREDENTIALS, REGION, waitFor };
export const ACCOUNT = "000000000000";
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Tests of an area mostly wait, so all of them run at once. */
export const TOGETHER = { concurrency: 64 };
/** For tests that would otherwise see each other's effects. */
export const IN_TURN = { concurrency: 1 };
/** A wait that only ends because something came. */
export const LONG = 20;

const modelled = (name, code = name, status = 400) => [name, { type: `com.amazonaws.sqs#${name}`, code, status }];
const simple = (name, status = 400) => modelled(name, `AWS.SimpleQueueService.${name}`, status);
const coral = (code, type, status = 400) => [code, { type: `com.amazon.coral.service#${type}`, code, status }];

/** By the name that the client gives the error: its type, its code in the Query protocol, its status. */
export const ERRORS = Object.fromEntries([
  modelled("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
  modelled("QueueNameExists", "QueueAlreadyExists"),
  modelled("InvalidAttributeName"),
  modelled("InvalidAttributeValue"),
  modelled("InvalidMessageContents"),
  modelled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404),
  modelled("MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight"),
  modelled("OverLimit", "OverLimit", 403),
  modelled("ResourceNotFoundException", "ResourceNotFoundException", 404),
  simple("EmptyBatchRequest"),
  simple("TooManyEntriesInBatchRequest"),
  simple("BatchEntryIdsNotDistinct"),
  simple("InvalidBatchEntryId"),
  simple("BatchRequestTooLong"),
  simple("PurgeQueueInProgress", 403),
  simple("UnsupportedOperation"),
  coral("InvalidParameterValue", "InvalidParameterValueException"),
  coral("MissingParameter", "MissingRequiredParameterException"),
  coral("InvalidAction", "UnknownOperationException"),
  coral("MalformedInput", "SerializationException"),
  coral("RequestEntityTooLarge", "RequestEntityTooLargeException", 413),
]);

/** Call inside describe(): starts everything before its tests, and ends it after them. */
export function world({ flags = [], dev = true, receiver = false } = {}) {
  const it = new World();
  before(async () => {
    it.server = process.env.HIKYAKU_E2E_ENDPOINT ? new Elsewhere() : new Server(flags, dev);
    await it.server.start();
    if (receiver) it.receiver = await new Receiver().start();
    it.sqs = it.connect(SQS);
    it.sns = it.connect(SNS);
  });
  after(async () => {
    it.sqs?.destroy();
    it.sns?.destroy();
    await it.server.close();
    await it.receiver?.close();
  });
  return it;
}

/** A server that is not ours: it can neither be restarted nor asked for keys. */
class Elsewhere {
  url = process.env.HIKYAKU_E2E_ENDPOINT;
  port = Number(new URL(this.url).port);
  async start() {}
  async close() {}
}

let made = 0;
const run = `${process.pid.toString(36)}${Date.now().toString(36)}`;

/** A name that nothing else has, in this run and in others on the same server. */
export function unique(kind = "q") {
  made += 1;
  return `${kind}-${run}-${String(made).padStart(4, "0")}`; // none is the beginning of another
}

class World {
  connect(Client, config = {}) {
    return new Client({
      endpoint: this.server.url,
      region: REGION,
      credentials: CREDENTIALS,
      maxAttempts: 1,
      requestHandler: { httpAgent: { maxSockets: 500 }, requestTimeout: 60_000 },
      logger: { debug() {}, info() {}, warn() {}, error() {}, trace() {} },
      ...config,
    });
  }

  json(action, input, options) {
    return callJson(this.server.port, action, input, options);
  }

  query(action, fields, options) {
    return callQuery(this.server.port, action, fields, options);
  }

  /** How many bytes of requests the server is reading or answering: by them it is known that a receive waits, or has left.
   *  For areas that do one thing at a time. */
  async underWay() {
    const { text } = await exchange(this.server.port, "GET", "/metrics");
    return Number(/^hikyaku_request_body_bytes (\d+)$/m.exec(text)[1]);
  }

  async queue(Attributes = {}, more = {}) {
    const QueueName = unique() + (Attributes.FifoQueue === "true" ? ".fifo" : "");
    const { QueueUrl } = await this.sqs.createQueue({ QueueName, Attributes, ...more });
    return new Queue(this, QueueName, QueueUrl);
  }

  fifo(Attributes = {}, more = {}) {
    return this.queue({ FifoQueue: "true", ...Attributes }, more);
  }

  /** A queue, and another one that is its dead-letter queue. */
  async withDeadLetters(maxReceiveCount = 1, Attributes = {}) {
    const dead = await this.queue(Attributes.FifoQueue ? { FifoQueue: "true" } : {});
    const policy = { deadLetterTargetArn: dead.arn, maxReceiveCount };
    const queue = await this.queue({ VisibilityTimeout: "0", RedrivePolicy: JSON.stringify(policy), ...Attributes });
    return { queue, dead };
  }
}

/** A queue of a test's own. */
export class Queue {
  constructor(t, name, url) {
    Object.assign(this, { t, name, url, arn: `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}` });
  }

  send(MessageBody, more = {}) {
    return this.t.sqs.sendMessage({ QueueUrl: this.url, MessageBody, ...more });
  }

  /** Into a FIFO queue, with a deduplication id of its own. */
  sendTo(MessageGroupId, MessageBody, more = {}) {
    return this.send(MessageBody, { MessageGroupId, MessageDeduplicationId: unique("d"), ...more });
  }

  sendBatch(Entries, QueueUrl = this.url) {
    return this.t.sqs.sendMessageBatch({ QueueUrl, Entries });
  }

  /** One message for each text. */
  async fill(...bodies) {
    for (let i = 0; i < bodies.length; i += 10) {
      const some = bodies.slice(i, i + 10).map((MessageBody, n) => ({ Id: `${n}`, MessageBody }));
      const { Failed = [] } = await this.sendBatch(some);
      assert.deepEqual(Failed, []);
    }
  }

  /** What is there now, up to ten, with all system attributes. */
  async receive(more = {}) {
    const { Messages = [] } = await this.t.sqs.receiveMessage({
      QueueUrl: this.url,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 0,
      MessageSystemAttributeNames: ["All"],
      ...more,
    });
    return Messages;
  }

  /** The next message, for which it waits. */
  async take(more = {}) {
    const [message, ...others] = await this.receive({ MaxNumberOfMessages: 1, WaitTimeSeconds: LONG, ...more });
    assert.ok(message, `no message came from ${this.name}`);
    assert.deepEqual(others, []);
    return message;
  }

  /** The bodies of what is there now. */
  async bodies(more = {}) {
    return (await this.receive(more)).map(({ Body }) => Body);
  }

  /** Receives and deletes until there were `count`; they, in the order they came. */
  async drain(count) {
    const all = [];
    await waitFor(
      async () => {
        const some = await this.receive({ WaitTimeSeconds: all.length < count ? 2 : 0, VisibilityTimeout: 30 });
        for (const message of some) await this.delete(message);
        all.push(...some);
        return all.length >= count;
      },
      () => `${count} messages of ${this.name}; there were ${all.length}`,
    );
    assert.equal(all.length, count);
    return all;
  }

  delete({ ReceiptHandle }) {
    return this.t.sqs.deleteMessage({ QueueUrl: this.url, ReceiptHandle });
  }

  change({ ReceiptHandle }, VisibilityTimeout) {
    return this.t.sqs.changeMessageVisibility({ QueueUrl: this.url, ReceiptHandle, VisibilityTimeout });
  }

  async attributes(...names) {
    const AttributeNames = names.length > 0 ? names : ["All"];
    const { Attributes } = await this.t.sqs.getQueueAttributes({ QueueUrl: this.url, AttributeNames });
    return Attributes ?? {};
  }

  set(Attributes) {
    return this.t.sqs.setQueueAttributes({ QueueUrl: this.url, Attributes });
  }

  /** [visible, in flight, delayed] */
  async counts() {
    const names = ["", "NotVisible", "Delayed"].map((state) => `ApproximateNumberOfMessages${state}`);
    const attributes = await this.attributes(...names);
    return names.map((name) => Number(attributes[name]));
  }
}

/** The client's call is refused with this error of ERRORS, with its code and status. */
export async function refused(call, name, pattern) {
  const error = await call.then(
    (value) => assert.fail(`was not refused but answered ${JSON.stringify({ ...value, $metadata: undefined })}`),
    (reason) => reason,
  );
  if (!error.$metadata?.httpStatusCode) throw error;
  const { code, status } = ERRORS[name];
  const got = { name: error.name, code: error.Code, status: error.$metadata.httpStatusCode };
  assert.deepEqual(got, { name, code, status }, error.message);
  if (pattern) assert.match(error.message, pattern);
}

/** Runs every row and reports all that are wrong, not only the first. */
export async function each(rows, check) {
  const results = await Promise.allSettled(rows.map((row) => check(...row)));
  const wrong = results.flatMap(({ reason }, i) =>
    reason ? [`${JSON.stringify(rows[i][0])}: ${reason.message.split("\n").slice(0, 12).join(" ")}`] : [],
  );
  assert.equal(wrong.length, 0, `${wrong.length} of ${rows.length}:\n${wrong.join("\n")}`);
}

/** Not earlier than `earliest`, give or take what two clocks of a machine may differ. */
export function assertNotBefore(time, earliest) {
  assert.ok(time >= earliest - 50, `${earliest - time} ms too early`);
}

/** A time of about now in milliseconds. */
export function assertRecent(time) {
  assert.ok(Math.abs(Date.now() - Number(time)) < 60_000, `${time} is not a time in milliseconds of about now`);
}

export const md5 = (data) => createHash("md5").update(data).digest("hex");
export const sha256 = (data) => createHash("sha256").update(data).digest("hex");
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The MD5 of message attributes, as described: for each name length, name, length, type, 1 or 2, length, value. */
export function md5OfAttributes(attributes) {
  const sized = (data) => {
    const bytes = Buffer.from(data);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const names = Object.keys(attributes).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const parts = names.flatMap((name) => {
    const { DataType, StringValue, BinaryValue } = attributes[name];
    const binary = DataType.startsWith("Binary");
    return [sized(name), sized(DataType), Buffer.from([binary ? 2 : 1]), sized(binary ? BinaryValue : StringValue)];
  });
  return md5(Buffer.concat(parts));
}

export const text = (StringValue, DataType = "String") => ({ DataType, StringValue });
export const number = (value, DataType = "Number") => ({ DataType, StringValue: String(value) });
export const binary = (bytes, DataType = "Binary") => ({ DataType, BinaryValue: Buffer.from(bytes) });

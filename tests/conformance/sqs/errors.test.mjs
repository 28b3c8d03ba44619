// Bad input to every action, in both protocols: the exact type, code and status.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ACCOUNT, ERRORS, TOGETHER, UUID, unique, world } from "./harness.mjs";
import { flatten, jsonError } from "./wire.mjs";

const ARN = `arn:aws:sqs:us-east-1:${ACCOUNT}:no-such-queue`;
const entry = { Id: "a", MessageBody: "x" };

describe("errors", TOGETHER, () => {
  const t = world();

  /** Each row: action, what is wrong, input, error. `queue`: the URL of a queue that exists. */
  const rows = (queue) => {
    const on = (more) => ({ QueueUrl: queue.url, ...more });
    const received = { ReceiptHandle: queue.handle };
    const perQueue = Object.entries({
      DeleteQueue: {},
      GetQueueAttributes: { AttributeNames: ["All"] },
      SetQueueAttributes: { Attributes: { DelaySeconds: "1" } },
      PurgeQueue: {},
      TagQueue: { Tags: { a: "b" } },
      UntagQueue: { TagKeys: ["a"] },
      ListQueueTags: {},
      AddPermission: { Label: "l", AWSAccountIds: ["111111111111"], Actions: ["SendMessage"] },
      RemovePermission: { Label: "l" },
      SendMessage: { MessageBody: "x" },
      SendMessageBatch: { Entries: [entry] },
      ReceiveMessage: {},
      DeleteMessage: received,
      DeleteMessageBatch: { Entries: [{ Id: "a", ...received }] },
      ChangeMessageVisibility: { ...received, VisibilityTimeout: 1 },
      ChangeMessageVisibilityBatch: { Entries: [{ Id: "a", ...received, VisibilityTimeout: 1 }] },
      ListDeadLetterSourceQueues: {},
    }).flatMap(([action, input]) => [
      [action, "an unknown queue", { ...input, QueueUrl: `${queue.url}-no` }, "QueueDoesNotExist"],
      [
        action,
        "another account",
        { ...input, QueueUrl: queue.url.replace(ACCOUNT, "111111111111") },
        "QueueDoesNotExist",
      ],
      [action, "no queue", input, "QueueDoesNotExist"],
      [action, "an empty URL", { ...input, QueueUrl: "" }, "QueueDoesNotExist"],
    ]);
    const range = (action, name, more, ...values) =>
      values.map((value) => [action, `${name} ${value}`, { ...more, [name]: value }, "InvalidParameterValue"]);
    const batches = ["SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"].flatMap((action) => {
      const one = (Id) =>
        action === "SendMessageBatch" ? { ...entry, Id } : { Id, ...received, VisibilityTimeout: 1 };
      const ids = (...list) => on({ Entries: list.map(one) });
      return [
        [action, "no entries", on({ Entries: [] }), "EmptyBatchRequest"],
        [action, "eleven entries", ids(..."abcdefghijk"), "TooManyEntriesInBatchRequest"],
        [action, "one id twice", ids("a", "a"), "BatchEntryIdsNotDistinct"],
        [action, "a bad id", ids("a b"), "InvalidBatchEntryId"],
        [action, "no entries for an unknown queue", { QueueUrl: `${queue.url}-no`, Entries: [] }, "EmptyBatchRequest"],
      ];
    });
    return [
      ...perQueue,
      ...batches,
      ["CreateQueue", "no name", {}, "MissingParameter"],
      ["CreateQueue", "a bad name", { QueueName: "a b" }, "InvalidParameterValue"],
      ["CreateQueue", "a long name", { QueueName: "x".repeat(81) }, "InvalidParameterValue"],
      ["CreateQueue", "a FIFO name", { QueueName: "a.fifo" }, "InvalidParameterValue"],
      [
        "CreateQueue",
        "an unknown attribute",
        { QueueName: unique(), Attributes: { Nonsense: "1" } },
        "InvalidAttributeName",
      ],
      [
        "CreateQueue",
        "a bad value",
        { QueueName: unique(), Attributes: { DelaySeconds: "901" } },
        "InvalidAttributeValue",
      ],
      [
        "CreateQueue",
        "a bad policy",
        { QueueName: unique(), Attributes: { RedrivePolicy: "x" } },
        "InvalidParameterValue",
      ],
      ["CreateQueue", "another value", { QueueName: queue.name, Attributes: { DelaySeconds: "9" } }, "QueueNameExists"],
      ["GetQueueUrl", "no name", {}, "MissingParameter"],
      ["GetQueueUrl", "an unknown name", { QueueName: "no-such-queue" }, "QueueDoesNotExist"],
      [
        "GetQueueUrl",
        "an unknown account",
        { QueueName: queue.name, QueueOwnerAWSAccountId: "111111111111" },
        "QueueDoesNotExist",
      ],
      ...range("ListQueues", "MaxResults", {}, 0, 1001, -1),
      ["ListQueues", "a bad token", { MaxResults: 1, NextToken: "nonsense" }, "InvalidParameterValue"],
      ["GetQueueAttributes", "an unknown name", on({ AttributeNames: ["Nonsense"] }), "InvalidAttributeName"],
      ["SetQueueAttributes", "an unknown name", on({ Attributes: { Nonsense: "1" } }), "InvalidAttributeName"],
      ["SetQueueAttributes", "a read-only name", on({ Attributes: { QueueArn: "1" } }), "InvalidAttributeName"],
      ["SetQueueAttributes", "a bad value", on({ Attributes: { VisibilityTimeout: "x" } }), "InvalidAttributeValue"],
      ["SetQueueAttributes", "a bad policy", on({ Attributes: { RedrivePolicy: "{}" } }), "InvalidParameterValue"],
      ["TagQueue", "no tags", on(), "MissingParameter"],
      ["UntagQueue", "no keys", on(), "MissingParameter"],
      ["AddPermission", "no label", on({ AWSAccountIds: ["111111111111"], Actions: ["*"] }), "MissingParameter"],
      ["AddPermission", "no accounts", on({ Label: "l", Actions: ["*"] }), "MissingParameter"],
      ["AddPermission", "no actions", on({ Label: "l", AWSAccountIds: ["111111111111"] }), "MissingParameter"],
      [
        "AddPermission",
        "a bad label",
        on({ Label: "a b", AWSAccountIds: ["111111111111"], Actions: ["*"] }),
        "InvalidParameterValue",
      ],
      ["RemovePermission", "no label", on(), "MissingParameter"],
      ["RemovePermission", "an unknown label", on({ Label: "unknown" }), "InvalidParameterValue"],
      ["SendMessage", "no body", on(), "MissingParameter"],
      ["SendMessage", "an empty body", on({ MessageBody: "" }), "MissingParameter"],
      ["SendMessage", "a bad character", on({ MessageBody: "\u0001" }), "InvalidMessageContents"],
      ["SendMessage", "a large body", on({ MessageBody: "x".repeat(1_048_577) }), "InvalidParameterValue"],
      ...range("SendMessage", "DelaySeconds", on({ MessageBody: "x" }), -1, 901),
      [
        "SendMessage",
        "a bad attribute",
        on({ MessageBody: "x", MessageAttributes: { a: { DataType: "X", StringValue: "x" } } }),
        "InvalidParameterValue",
      ],
      [
        "SendMessage",
        "a deduplication id",
        on({ MessageBody: "x", MessageDeduplicationId: "d" }),
        "InvalidParameterValue",
      ],
      [
        "SendMessageBatch",
        "too much",
        on({ Entries: ["a", "b"].map((Id) => ({ Id, MessageBody: "x".repeat(600_000) })) }),
        "BatchRequestTooLong",
      ],
      ...range("ReceiveMessage", "MaxNumberOfMessages", on(), 0, 11, -1),
      ...range("ReceiveMessage", "WaitTimeSeconds", on(), -1, 21),
      ...range("ReceiveMessage", "VisibilityTimeout", on(), -1, 43_201),
      ["DeleteMessage", "no handle", on(), "MissingParameter"],
      ["DeleteMessage", "a bad handle", on({ ReceiptHandle: "nonsense" }), "ReceiptHandleIsInvalid"],
      ["ChangeMessageVisibility", "no handle", on({ VisibilityTimeout: 1 }), "MissingParameter"],
      ["ChangeMessageVisibility", "no timeout", on(received), "MissingParameter"],
      [
        "ChangeMessageVisibility",
        "a bad handle",
        on({ ReceiptHandle: "nonsense", VisibilityTimeout: 1 }),
        "ReceiptHandleIsInvalid",
      ],
      ...range("ChangeMessageVisibility", "VisibilityTimeout", on(received), -1, 43_201),
      ...range("ListDeadLetterSourceQueues", "MaxResults", on(), 0, 1001),
      ["StartMessageMoveTask", "no source", {}, "MissingParameter"],
      ["StartMessageMoveTask", "an unknown source", { SourceArn: ARN }, "ResourceNotFoundException"],
      [
        "StartMessageMoveTask",
        "a source that is no dead-letter queue",
        { SourceArn: queue.arn },
        "InvalidParameterValue",
      ],
      ["ListMessageMoveTasks", "no source", {}, "MissingParameter"],
      ["ListMessageMoveTasks", "an unknown source", { SourceArn: ARN }, "ResourceNotFoundException"],
      ["CancelMessageMoveTask", "no handle", {}, "MissingParameter"],
      ["CancelMessageMoveTask", "a bad handle", { TaskHandle: "nonsense" }, "InvalidParameterValue"],
      ["Nonsense", "an unknown action", {}, "InvalidAction"],
      ["sendMessage", "an action in the wrong case", {}, "InvalidAction"],
    ];
  };

  async function prepared() {
    const queue = await t.queue();
    await queue.send("x");
    queue.handle = (await queue.take({ VisibilityTimeout: 900 })).ReceiptHandle;
    return queue;
  }

  async function check(call, expected) {
    const queue = await prepared();
    const wrong = [];
    for (const [action, what, input, error] of rows(queue)) {
      let got;
      try {
        got = await call(action, input);
      } catch (problem) {
        got = problem.message.split("\n")[0];
      }
      const want = expected(ERRORS[error]);
      try {
        assert.deepEqual(got, want);
      } catch {
        wrong.push(`${action}, ${what}: ${JSON.stringify(got) ?? "was not refused"}, expected ${JSON.stringify(want)}`);
      }
    }
    assert.equal(wrong.length, 0, `${wrong.length}:\n${wrong.join("\n")}`);
    assert.deepEqual(await queue.counts(), [0, 1, 0]);
  }

  it("are exact in the JSON protocol", () =>
    check(
      async (action, input) => jsonError(await t.json(action, input)),
      ({ type, code, status }) => ({ type, code: `${code};Sender`, status }),
    ));

  it("are exact in the Query protocol", () =>
    check(
      async (action, input) => (await t.query(action, flatten(action, input))).error,
      ({ code, status }) => ({ code, status }),
    ));

  it("tell JSON that is none and members of wrong types", async () => {
    const queue = await prepared();
    const { type, code, status } = ERRORS.MalformedInput;
    const bodies = [
      ["SendMessage", ""],
      ["SendMessage", "{"],
      ["SendMessage", "nonsense"],
      ["SendMessage", "[]"],
      ["SendMessage", '"text"'],
      ["SendMessage", '{"QueueUrl":1,"MessageBody":"x"}'],
      ["SendMessage", JSON.stringify({ QueueUrl: queue.url, MessageBody: { a: 1 } })],
      ["SendMessage", JSON.stringify({ QueueUrl: queue.url, MessageBody: "x", MessageAttributes: [] })],
      ["SendMessage", JSON.stringify({ QueueUrl: queue.url, MessageBody: "x", DelaySeconds: "soon" })],
      [
        "SendMessageBatch",
        JSON.stringify({ QueueUrl: queue.url, Entries: [{ Id: "a", MessageBody: "x", DelaySeconds: "soon" }] }),
      ],
      ["ReceiveMessage", JSON.stringify({ QueueUrl: queue.url, MaxNumberOfMessages: {} })],
      ["SendMessageBatch", JSON.stringify({ QueueUrl: queue.url, Entries: "x" })],
      ["GetQueueAttributes", JSON.stringify({ QueueUrl: queue.url, AttributeNames: "All" })],
      ["SetQueueAttributes", JSON.stringify({ QueueUrl: queue.url, Attributes: { DelaySeconds: {} } })],
      ["CreateQueue", JSON.stringify({ QueueName: ["x"] })],
    ];
    const wrong = [];
    for (const [action, body] of bodies) {
      const got = jsonError(await t.json(action, body));
      if (JSON.stringify(got) !== JSON.stringify({ type, code: `${code};Sender`, status }))
        wrong.push(`${action} ${body}: ${JSON.stringify(got) ?? "was not refused"}`);
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(await queue.counts(), [0, 1, 0]);
  });

  it("are those of the protocol when a request is larger than the server reads", async () => {
    const { type, code, status } = ERRORS.RequestEntityTooLarge;
    const queue = await t.queue();
    const large = "x".repeat(11 * 1024 * 1024);
    const input = { QueueUrl: queue.url, MessageBody: large };
    await assert.rejects(t.sqs.sendMessage(input), (error) => {
      assert.equal(error.name, code);
      assert.equal(error.$metadata.httpStatusCode, status);
      assert.match(error.$metadata.requestId ?? "", UUID);
      return true;
    });
    await assert.rejects(t.sns.publish({ TopicArn: `arn:aws:sns:us-east-1:${ACCOUNT}:t`, Message: large }), {
      name: code,
    });
    assert.deepEqual(jsonError(await t.json("SendMessage", input)), { type, code: `${code};Sender`, status });
    assert.deepEqual((await t.query("SendMessage", input)).error, { code, status });
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  it("say which parameter and which value is wrong", async () => {
    const queue = await prepared();
    for (const [action, input, pattern] of [
      ["ReceiveMessage", { MaxNumberOfMessages: 11 }, /MaxNumberOfMessages.*11|11.*MaxNumberOfMessages/],
      ["ReceiveMessage", { WaitTimeSeconds: 21 }, /WaitTimeSeconds.*21|21.*WaitTimeSeconds/],
      ["SendMessage", { MessageBody: "x", DelaySeconds: 901 }, /DelaySeconds.*901|901.*DelaySeconds/],
      ["SetQueueAttributes", { Attributes: { VisibilityTimeout: "-7" } }, /VisibilityTimeout/],
      ["SendMessage", {}, /MessageBody/],
    ]) {
      const answer = await t.json(action, { QueueUrl: queue.url, ...input });
      assert.match(answer.json().message, pattern);
    }
  });
});

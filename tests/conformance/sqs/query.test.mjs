// The Query protocol as it is on the wire, signed by an implementation of our own: what older clients send, and every answer.
import assert from "node:assert/strict";
import http from "node:http";
import { describe, it } from "node:test";
import { exchange } from "../lib/server.mjs";
import { ACCOUNT, md5, md5OfAttributes, Queue, text, TOGETHER, unique, UUID, waitFor, world } from "./harness.mjs";
import { form, presigned, signedHeaders } from "./sigv4.mjs";
import { flatten, readQuery, send } from "./wire.mjs";

const TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
const pairs = (list, name = "Name") => Object.fromEntries(list.map((one) => [one[name][0], one.Value[0]]));

describe("the Query protocol", TOGETHER, () => {
  const t = world();

  /** The content of the result of a call that succeeds; undefined when there is no result element. */
  async function ok(action, fields, options) {
    const answer = await t.query(action, fields, options);
    assert.equal(answer.status, 200, answer.text);
    return answer.result;
  }
  const on = (queue, fields = {}) => ({ QueueUrl: queue.url, ...fields });
  const host = () => `127.0.0.1:${t.server.port}`;
  const pathOf = ({ name }) => `/${ACCOUNT}/${name}`;

  describe("actions", TOGETHER, () => {
    it("CreateQueue, GetQueueUrl, GetQueueAttributes, ListQueueTags", async () => {
      const QueueName = unique();
      const fields = flatten("CreateQueue", {
        QueueName,
        Attributes: { DelaySeconds: "3", VisibilityTimeout: "4" },
        tags: { a: "1", b: "<&>" },
      });
      const url = `${t.server.url}/${ACCOUNT}/${QueueName}`;
      assert.deepEqual(await ok("CreateQueue", fields), { QueueUrl: [url] });
      assert.deepEqual(await ok("GetQueueUrl", { QueueName }), { QueueUrl: [url] });
      const some = { QueueUrl: url, "AttributeName.1": "DelaySeconds", "AttributeName.2": "VisibilityTimeout" };
      const { Attribute } = await ok("GetQueueAttributes", some);
      assert.deepEqual(pairs(Attribute), { DelaySeconds: "3", VisibilityTimeout: "4" });
      const { Tag } = await ok("ListQueueTags", { QueueUrl: url });
      assert.deepEqual(pairs(Tag, "Key"), { a: "1", b: "<&>" });
    });

    it("ListQueues, with pages and with nothing", async () => {
      const QueueNamePrefix = unique("list");
      for (const end of ["a", "b", "c"]) await t.sqs.createQueue({ QueueName: `${QueueNamePrefix}-${end}` });
      const url = (end) => `${t.server.url}/${ACCOUNT}/${QueueNamePrefix}-${end}`;
      assert.deepEqual(await ok("ListQueues", { QueueNamePrefix }), { QueueUrl: ["a", "b", "c"].map(url) });
      const first = await ok("ListQueues", { QueueNamePrefix, MaxResults: 2 });
      assert.deepEqual(first.QueueUrl, ["a", "b"].map(url));
      const second = await ok("ListQueues", { QueueNamePrefix, MaxResults: 2, NextToken: first.NextToken[0] });
      assert.deepEqual(second, { QueueUrl: [url("c")] });
      assert.equal(await ok("ListQueues", { QueueNamePrefix: unique("none") }), "");
    });

    it("SetQueueAttributes, TagQueue, UntagQueue: no result element", async () => {
      const queue = await t.queue();
      const set = flatten(
        "SetQueueAttributes",
        on(queue, { Attributes: { DelaySeconds: "5", VisibilityTimeout: "6" } }),
      );
      assert.equal(await ok("SetQueueAttributes", set), undefined);
      assert.deepEqual(await queue.attributes("DelaySeconds", "VisibilityTimeout"), {
        DelaySeconds: "5",
        VisibilityTimeout: "6",
      });
      assert.equal(await ok("TagQueue", flatten("TagQueue", on(queue, { Tags: { a: "1", b: "" } }))), undefined);
      assert.equal(await ok("UntagQueue", flatten("UntagQueue", on(queue, { TagKeys: ["a", "c"] }))), undefined);
      assert.deepEqual((await t.sqs.listQueueTags({ QueueUrl: queue.url })).Tags, { b: "" });
    });

    it("AddPermission, RemovePermission: no result element", async () => {
      const queue = await t.queue();
      const input = { Label: "l", AWSAccountIds: ["111111111111"], Actions: ["SendMessage", "ReceiveMessage"] };
      assert.equal(await ok("AddPermission", flatten("AddPermission", on(queue, input))), undefined);
      const { Policy } = await queue.attributes("Policy");
      assert.deepEqual(JSON.parse(Policy).Statement[0].Action, ["SQS:SendMessage", "SQS:ReceiveMessage"]);
      assert.equal(await ok("RemovePermission", on(queue, { Label: "l" })), undefined);
    });

    it("SendMessage and ReceiveMessage, with everything a message can have", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      const attributes = {
        s: text("ü <&>"),
        n: { DataType: "Number.int", StringValue: "42" },
        b: { DataType: "Binary", BinaryValue: Buffer.from([0, 255]) },
      };
      const sent = await ok("SendMessage", {
        ...on(queue, { MessageBody: "a body", MessageGroupId: "g" }),
        "MessageAttribute.1.Name": "s",
        "MessageAttribute.1.Value.DataType": "String",
        "MessageAttribute.1.Value.StringValue": "ü <&>",
        "MessageAttribute.2.Name": "n",
        "MessageAttribute.2.Value.DataType": "Number.int",
        "MessageAttribute.2.Value.StringValue": "42",
        "MessageAttribute.3.Name": "b",
        "MessageAttribute.3.Value.DataType": "Binary",
        "MessageAttribute.3.Value.BinaryValue": Buffer.from([0, 255]).toString("base64"),
        "MessageSystemAttribute.1.Name": "AWSTraceHeader",
        "MessageSystemAttribute.1.Value.DataType": "String",
        "MessageSystemAttribute.1.Value.StringValue": TRACE,
      });
      assert.match(sent.MessageId[0], UUID);
      const expected = {
        MessageId: sent.MessageId,
        MD5OfMessageBody: [md5("a body")],
        MD5OfMessageAttributes: [md5OfAttributes(attributes)],
        MD5OfMessageSystemAttributes: ["5ae4d5d7636402d80f4eb6d213245a88"],
      };
      assert.deepEqual(sent, expected);

      const ask = { ...on(queue), "AttributeName.1": "All", "MessageAttributeName.1": "All" };
      const { Message } = await ok("ReceiveMessage", ask);
      assert.equal(Message.length, 1);
      const [{ Attribute, MessageAttribute, ReceiptHandle, ...rest }] = Message;
      assert.ok(ReceiptHandle[0]);
      assert.deepEqual(rest, {
        MessageId: sent.MessageId,
        MD5OfBody: [md5("a body")],
        Body: ["a body"],
        MD5OfMessageAttributes: [md5OfAttributes(attributes)],
      });
      const system = pairs(Attribute);
      assert.deepEqual(Object.keys(system).sort(), [
        "AWSTraceHeader",
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "MessageGroupId",
        "SenderId",
        "SentTimestamp",
      ]);
      assert.deepEqual([system.AWSTraceHeader, system.MessageGroupId], [TRACE, "g"]);
      assert.deepEqual(Object.fromEntries(MessageAttribute.map(({ Name, Value }) => [Name[0], Value[0]])), {
        s: { StringValue: ["ü <&>"], DataType: ["String"] },
        n: { StringValue: ["42"], DataType: ["Number.int"] },
        b: { BinaryValue: ["AP8="], DataType: ["Binary"] },
      });

      const newer = { ...on(queue), "MessageSystemAttributeName.1": "SenderId", MaxNumberOfMessages: 10 };
      const [again] = (await ok("ReceiveMessage", newer)).Message;
      assert.deepEqual(Object.keys(again).sort(), ["Attribute", "Body", "MD5OfBody", "MessageId", "ReceiptHandle"]);
      assert.deepEqual(Object.keys(pairs(again.Attribute)), ["SenderId"]);
    });

    it("SendMessage to a FIFO queue answers the sequence number", async () => {
      const queue = await t.fifo();
      const fields = on(queue, { MessageBody: "x", MessageGroupId: "g", MessageDeduplicationId: "d" });
      const sent = await ok("SendMessage", fields);
      assert.match(sent.SequenceNumber[0], /^\d{20}$/);
      const { Message } = await ok("ReceiveMessage", on(queue, { AttributeName: "SequenceNumber" }));
      assert.deepEqual(pairs(Message[0].Attribute), { SequenceNumber: sent.SequenceNumber[0] });
    });

    it("ReceiveMessage of nothing is an empty element", async () => {
      const queue = await t.queue();
      const answer = await t.query("ReceiveMessage", on(queue));
      assert.equal(answer.result, "");
      assert.ok(answer.text.includes("<ReceiveMessageResult/>"), answer.text);
    });

    it("ChangeMessageVisibility, DeleteMessage, PurgeQueue, DeleteQueue: no result element", async () => {
      const queue = await t.queue();
      await queue.send("x");
      const { ReceiptHandle } = await queue.take();
      const change = on(queue, { ReceiptHandle, VisibilityTimeout: 100 });
      assert.equal(await ok("ChangeMessageVisibility", change), undefined);
      assert.equal(await ok("DeleteMessage", on(queue, { ReceiptHandle })), undefined);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
      assert.equal(await ok("PurgeQueue", on(queue)), undefined);
      assert.equal(await ok("DeleteQueue", on(queue)), undefined);
      assert.equal((await t.query("DeleteQueue", on(queue))).error.code, "AWS.SimpleQueueService.NonExistentQueue");
    });

    it("the three batches, with successes and failures", async () => {
      const queue = await t.queue();
      const Entries = [
        { Id: "a", MessageBody: "one", MessageAttributes: { k: text("x") } },
        { Id: "b", MessageBody: "" },
        { Id: "c", MessageBody: "two" },
      ];
      const sent = await ok("SendMessageBatch", flatten("SendMessageBatch", on(queue, { Entries })));
      assert.deepEqual(
        sent.SendMessageBatchResultEntry.map((one) => [
          one.Id[0],
          one.MD5OfMessageBody[0],
          one.MD5OfMessageAttributes?.[0],
        ]),
        [
          ["a", md5("one"), "a45daa70926828a2f0a1db3418e6feb4"],
          ["c", md5("two"), undefined],
        ],
      );
      const [{ Id, SenderFault, Code, Message }] = sent.BatchResultErrorEntry;
      assert.deepEqual([Id, SenderFault, Code], [["b"], ["true"], ["MissingParameter"]]);
      assert.ok(Message[0]);

      const messages = await queue.receive();
      const handles = messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
      handles.push({ Id: "bad", ReceiptHandle: "nonsense" });
      const timed = handles.map((one) => ({ ...one, VisibilityTimeout: 60 }));
      const changed = await ok(
        "ChangeMessageVisibilityBatch",
        flatten("ChangeMessageVisibilityBatch", on(queue, { Entries: timed })),
      );
      assert.deepEqual(changed.ChangeMessageVisibilityBatchResultEntry, [{ Id: ["0"] }, { Id: ["1"] }]);
      assert.equal(changed.BatchResultErrorEntry[0].Code[0], "ReceiptHandleIsInvalid");
      const deleted = await ok("DeleteMessageBatch", flatten("DeleteMessageBatch", on(queue, { Entries: handles })));
      assert.deepEqual(deleted.DeleteMessageBatchResultEntry, [{ Id: ["0"] }, { Id: ["1"] }]);
      assert.equal(deleted.BatchResultErrorEntry[0].Code[0], "ReceiptHandleIsInvalid");
    });

    it("ListDeadLetterSourceQueues and the move tasks", async () => {
      const { queue, dead } = await t.withDeadLetters();
      assert.deepEqual(await ok("ListDeadLetterSourceQueues", on(dead)), { QueueUrl: [queue.url] });
      await queue.send("x");
      await queue.take();
      await queue.receive();
      const { TaskHandle } = await ok("StartMessageMoveTask", { SourceArn: dead.arn });
      assert.ok(TaskHandle[0]);
      const entry = await waitFor(async () => {
        const { ListMessageMoveTasksResultEntry: list } = await ok("ListMessageMoveTasks", {
          SourceArn: dead.arn,
          MaxResults: 10,
        });
        return list[0].Status[0] === "COMPLETED" && list[0];
      }, "the task to complete");
      assert.deepEqual([entry.SourceArn, entry.ApproximateNumberOfMessagesMoved], [[dead.arn], ["1"]]);

      for (let i = 0; i < 20; i += 1) await queue.send(`${i}`);
      for (let i = 0; i < 4; i += 1) await queue.receive();
      const task = await ok("StartMessageMoveTask", { SourceArn: dead.arn, MaxNumberOfMessagesPerSecond: 1 });
      const cancelled = await ok("CancelMessageMoveTask", { TaskHandle: task.TaskHandle[0] });
      assert.match(cancelled.ApproximateNumberOfMessagesMoved[0], /^\d+$/);
    });
  });

  describe("text", TOGETHER, () => {
    const bodies = {
      markup: `<a href="x">&amp;</a> 'single' ]]>`,
      "line ends": "a\rb\nc\r\nd\te",
      "blanks at the ends": "  x  ",
      "plus and percent": "a+b %2B c&d=e",
      unicode: "ü€😀",
    };
    for (const [kind, body] of Object.entries(bodies))
      it(`survives the form and XML: ${kind}`, async () => {
        const queue = await t.queue();
        const sent = await ok("SendMessage", on(queue, { MessageBody: body }));
        assert.equal(sent.MD5OfMessageBody[0], md5(body));
        const { Message } = await ok("ReceiveMessage", on(queue));
        assert.deepEqual([Message[0].Body[0], Message[0].MD5OfBody[0]], [body, md5(body)]);
      });

    it("escapes a carriage return in the one spelling that all clients read", async () => {
      const queue = await t.queue();
      await queue.send("a\r\nb");
      const { text: xml } = await t.query("ReceiveMessage", on(queue));
      assert.ok(xml.includes("<Body>a&#xD;\nb</Body>"), xml);
    });

    it("takes the largest message percent-encoded", async () => {
      const queue = await t.queue();
      const MessageBody = "ü".repeat(524_288);
      const sent = await ok("SendMessage", on(queue, { MessageBody }));
      assert.equal(sent.MD5OfMessageBody[0], md5(MessageBody));
    });
  });

  describe("requests", TOGETHER, () => {
    it("takes a plus for a blank", async () => {
      const queue = await t.queue();
      const body = `Action=SendMessage&MessageBody=a+b%20c&QueueUrl=${encodeURIComponent(queue.url)}`;
      const headers = { "Content-Type": "application/x-www-form-urlencoded" };
      assert.equal((await send(t.server.port, { body, headers })).status, 200);
      assert.equal((await queue.take()).Body, "a b c");
    });

    it("finds the queue in the path, which gives way to the parameter", async () => {
      const [queue, other] = [await t.queue(), await t.queue()];
      for (const target of [pathOf(queue), `${pathOf(queue)}/`])
        await ok("SendMessage", { MessageBody: "by path" }, { target });
      await ok("SendMessage", { MessageBody: "by parameter", QueueUrl: other.url }, { target: pathOf(queue) });
      assert.deepEqual(await queue.bodies(), ["by path", "by path"]);
      assert.deepEqual(await other.bodies(), ["by parameter"]);
    });

    it("refuses to create and list on the path of a queue, and gives the URL of any", async () => {
      const [queue, other] = [await t.queue(), await t.queue()];
      const target = pathOf(queue);
      for (const [action, fields] of [
        ["CreateQueue", { QueueName: unique() }],
        ["ListQueues", {}],
      ])
        assert.deepEqual((await t.query(action, fields, { target })).error, { code: "InvalidAction", status: 400 });
      const got = await ok("GetQueueUrl", { QueueName: other.name }, { target });
      assert.deepEqual(got, { QueueUrl: [other.url] });
    });

    it("takes the fields of older clients: unnumbered, with gaps, without a version", async () => {
      const queue = await t.queue();
      const plain = on(queue, { "Attribute.Name": "VisibilityTimeout", "Attribute.Value": "77" });
      await ok("SetQueueAttributes", plain, { version: false });
      const { Attribute } = await ok("GetQueueAttributes", on(queue, { AttributeName: "VisibilityTimeout" }));
      assert.deepEqual(pairs(Attribute), { VisibilityTimeout: "77" });
      const gaps = on(queue, { "AttributeName.3": "VisibilityTimeout", "AttributeName.7": "DelaySeconds" });
      const some = await ok("GetQueueAttributes", gaps);
      assert.deepEqual(pairs(some.Attribute), { VisibilityTimeout: "77", DelaySeconds: "0" });
      const empty = await t.query("SendMessageBatch", on(queue, { SendMessageBatchRequestEntry: "" }));
      assert.equal(empty.error.code, "AWS.SimpleQueueService.EmptyBatchRequest");
    });

    it("takes a form without its content type", async () => {
      const queue = await t.queue();
      const body = form({ Action: "SendMessage", Version: "2012-11-05", MessageBody: "as Celery sends it" });
      const answer = await send(t.server.port, { target: pathOf(queue), body });
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await queue.take()).Body, "as Celery sends it");
    });

    it("takes a signed GET", async () => {
      const queue = await t.queue();
      const sent = await ok("SendMessage", { MessageBody: "by GET & more" }, { method: "GET", target: pathOf(queue) });
      assert.equal(sent.MD5OfMessageBody[0], md5("by GET & more"));
      assert.equal((await queue.take()).Body, "by GET & more");
    });

    it("takes presigned requests of either method", async () => {
      const queue = await t.queue();
      const call = async (method, Action, more = {}) => {
        const fields = { Action, Version: "2012-11-05", ...more };
        const target = presigned({ method, path: pathOf(queue), fields, host: host() });
        return readQuery(await exchange(t.server.port, method, target), Action);
      };
      assert.equal((await call("GET", "SendMessage", { MessageBody: "presigned é" })).status, 200);
      const received = await call("POST", "ReceiveMessage", {
        "AttributeName.1": "All",
        "MessageAttributeName.1": "a.*",
      });
      const [message] = received.result.Message;
      assert.equal(message.Body[0], "presigned é");
      assert.equal((await call("GET", "DeleteMessage", { ReceiptHandle: message.ReceiptHandle[0] })).status, 200);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("answers in JSON when asked in JSON on the path of a queue, by the URL in the body", async () => {
      const [queue, other] = [await t.queue(), await t.queue()];
      const input = { QueueUrl: queue.url, MessageBody: "JSON" };
      const answer = await t.json("SendMessage", input, { target: `${pathOf(other)}/` });
      assert.equal(answer.json().MD5OfMessageBody, md5("JSON"));
      assert.deepEqual(await queue.bodies(), ["JSON"]);
    });

    it("reads bodies in chunks, and answers an expectation", async () => {
      const queue = await t.queue();
      const body = JSON.stringify({ QueueUrl: queue.url, MessageBody: "chunks ".repeat(1000) });
      const headers = signedHeaders({
        headers: {
          Host: host(),
          "Content-Type": "application/x-amz-json-1.0",
          "X-Amz-Target": "AmazonSQS.SendMessage",
        },
        body,
      });
      for (const more of [{}, { Expect: "100-continue", "Content-Length": Buffer.byteLength(body) }]) {
        const status = await new Promise((resolve, reject) => {
          const options = { host: "127.0.0.1", port: t.server.port, method: "POST", headers: { ...headers, ...more } };
          const request = http.request(options, (answer) => {
            answer.resume();
            answer.on("end", () => resolve(answer.statusCode));
          });
          request.on("error", reject);
          const go = () => {
            for (let i = 0; i < body.length; i += 1000) request.write(body.slice(i, i + 1000));
            request.end();
          };
          if (more.Expect) request.on("continue", go).flushHeaders();
          else go();
        });
        assert.equal(status, 200);
      }
      assert.deepEqual(await queue.counts(), [2, 0, 0]);
    });

    it("says how long an answer is and what time it is", async () => {
      for (const answer of [await t.query("ListQueues", {}), await t.json("ListQueues", {})]) {
        assert.equal(Number(answer.headers["content-length"]), Buffer.byteLength(answer.text));
        assert.ok(Math.abs(Date.parse(answer.headers.date) - Date.now()) < 60_000, answer.headers.date);
      }
    });

    it("does not know other actions, and answers 404 to what is none", async () => {
      const queue = new Queue(t, "any", `${t.server.url}/${ACCOUNT}/any`);
      for (const action of ["Nonsense", "sendmessage"])
        assert.deepEqual((await t.query(action, on(queue))).error, { code: "InvalidAction", status: 400 });
      const none = await send(t.server.port, { body: "", target: "/" });
      assert.equal(none.status, 404, none.text);
      assert.match(none.text, /<UnknownOperationException\/>/);
    });
  });
});

// One message at a time: what may be sent, what is answered, and that it comes back as it was.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertRecent,
  binary,
  CREDENTIALS,
  each,
  md5,
  md5OfAttributes,
  number,
  refused,
  text,
  TOGETHER,
  UUID,
  world,
} from "./harness.mjs";

const MIB = 1_048_576;
const TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
const without = (object, ...names) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
/** What the client adds to answers is not part of them. */
const content = (answer) => without(answer, "$metadata");

describe("sending and receiving", TOGETHER, () => {
  const t = world();

  /** Sends it with these attributes, and receives it with all of them. */
  async function roundTrip(MessageAttributes, more = {}) {
    const queue = await t.queue();
    const sent = await queue.send("message", { MessageAttributes });
    const got = await queue.take({ MessageAttributeNames: ["All"], ...more });
    return { sent, got };
  }

  /** The attributes as they were sent: the client gives binary values as Uint8Array. */
  function sameAttributes(got, sent) {
    const form = (attributes) =>
      Object.fromEntries(
        Object.entries(attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
          name,
          { DataType, value: BinaryValue ? Buffer.from(BinaryValue).toString("hex") : StringValue },
        ]),
      );
    assert.deepEqual(form(got), form(sent));
  }

  describe("bodies", TOGETHER, () => {
    const bodies = {
      "one character": "x",
      "a blank": " ",
      "blanks around": "  x  ",
      "line ends": "a\nb\r\nc\rd\te",
      "only a carriage return": "\r",
      quotes: `"'\\"`,
      markup: `<a href="x">&amp; &#xD; ]]></a>`,
      JSON: JSON.stringify({ a: [1, null, { b: "c" }] }),
      "percent and plus": "100% a+b %20 =&;",
      "two, three and four bytes": "ü€😀",
      "the ends of the legal ranges": "\u0020\u007f\u0085\u00a0\ud7ff\ue000\ufffd\u{10000}\u{10ffff}",
      "combining characters": "e\u0301 \u200d \u202e",
      "ten thousand lines": "line\n".repeat(10_000),
    };
    for (const [kind, body] of Object.entries(bodies))
      it(`keeps a body: ${kind}`, async () => {
        const queue = await t.queue();
        const sent = content(await queue.send(body));
        assert.match(sent.MessageId, UUID);
        assert.deepEqual(sent, { MessageId: sent.MessageId, MD5OfMessageBody: md5(body) });

        const got = await queue.take({ MessageSystemAttributeNames: undefined });
        assert.equal(got.Body, body);
        assert.ok(got.ReceiptHandle.length <= 1024);
        const expected = { MessageId: sent.MessageId, MD5OfBody: md5(body), Body: body };
        assert.deepEqual(without(got, "ReceiptHandle"), expected);
      });

    it("refuses characters that XML cannot carry", async () => {
      const queue = await t.queue();
      const illegal = ["\u0000", "\u0001", "\u0008", "\u000b", "\u000c", "\u001f", "\ufffe", "\uffff"];
      await each(
        illegal.map((c) => [`U+${c.charCodeAt(0).toString(16)}`, c]),
        (_, c) => refused(queue.send(`a${c}b`), "InvalidMessageContents"),
      );
      const lone = await t.json("SendMessage", `{"QueueUrl":"${queue.url}","MessageBody":"a\\ud800b"}`);
      assert.equal(lone.status, 400);
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });

    it("refuses a body that is missing or empty", async () => {
      const queue = await t.queue();
      await refused(queue.send(""), "MissingParameter", /MessageBody/);
      await refused(queue.send(undefined), "MissingParameter", /MessageBody/);
    });

    it("gives each message and each receive an identity of its own", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      const ids = new Set();
      for (let i = 0; i < 10; i += 1) ids.add((await queue.send("same")).MessageId);
      const handles = new Set();
      for (let i = 0; i < 3; i += 1) for (const { ReceiptHandle } of await queue.receive()) handles.add(ReceiptHandle);
      assert.deepEqual([ids.size, handles.size], [10, 30]);
    });
  });

  describe("sizes", TOGETHER, () => {
    it("takes a message of a mebibyte and not of one byte more", async () => {
      const queue = await t.queue();
      const body = "x".repeat(MIB);
      await queue.send(body);
      assert.equal((await queue.take()).Body, body);
      await refused(queue.send(`${body}x`), "InvalidParameterValue");
    });

    it("takes the largest message when every byte of it is escaped on the way", async () => {
      const queue = await t.queue();
      const body = "\n".repeat(MIB);
      assert.equal((await queue.send(body)).MD5OfMessageBody, md5(body));
    });

    it("counts bytes of body, attribute names, types and values, and no system attributes", async () => {
      const queue = await t.queue({ MaximumMessageSize: "1024" });
      const attributes = { "na-me": text("ü"), bin: binary([0, 1, 2, 255], "Binary.x") };
      const taken = 5 + 6 + 2 + 3 + 8 + 4;
      const system = { MessageSystemAttributes: { AWSTraceHeader: text(TRACE) } };
      await each(
        [
          ["plain", "x".repeat(1024)],
          ["two bytes each", "ü".repeat(512)],
          ["with attributes", "x".repeat(1024 - taken), { MessageAttributes: attributes }],
          ["with a trace header", "x".repeat(1024), system],
        ],
        async (_, body, more) => {
          await queue.send(body, more);
          await refused(queue.send(`${body}x`, more), "InvalidParameterValue");
        },
      );
    });

    it("goes by the queue's maximum of now", async () => {
      const queue = await t.queue();
      await queue.send("x".repeat(2000));
      await queue.set({ MaximumMessageSize: "1024" });
      await refused(queue.send("x".repeat(2000)), "InvalidParameterValue");
      assert.equal((await queue.take()).Body.length, 2000);
    });
  });

  describe("message attributes", TOGETHER, () => {
    const kenobi = { "Help.Me": text("Me"), Hello: text("There"), General: text("Kenobi") };
    const traceparent = Buffer.concat([
      Buffer.from("traceparent"),
      Buffer.from([0x1e]),
      Buffer.from("00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01"),
    ]);
    const vectors = [
      ["three strings", kenobi, "4c360f3fdafd970e05fae2f149d997f5"],
      ["two strings", without(kenobi, "Help.Me"), "fca026605781cb4126a1e9044df24232"],
      ["one string", { Hello: kenobi.Hello }, "a311262e065454b75da111d535b8dacd"],
      ["another string", { k: text("x") }, "a45daa70926828a2f0a1db3418e6feb4"],
      ["a number", { timestamp: number(1493147359900) }, "235c5c510d26fb653d073faed50ae77c"],
      ["bytes", { attr1: binary(traceparent) }, "8cbe4db156db8a94db8b801b7addb984"],
    ];
    for (const [kind, attributes, expected] of vectors)
      it(`has the recorded MD5 of ${kind}, when sent and when received`, async () => {
        const { sent, got } = await roundTrip(attributes);
        assert.equal(sent.MD5OfMessageAttributes, expected);
        assert.equal(got.MD5OfMessageAttributes, expected);
        sameAttributes(got.MessageAttributes, attributes);
      });

    it("keeps types with labels, bytes and long names, ten of them", async () => {
      const attributes = {
        plain: text("ümlaut €😀"),
        "line.ends": text("a\r\nb\tc"),
        custom: text("x", "String.custom label_1"),
        int: number(-42, "Number.int"),
        float: number("1.5E-7", "Number.java.lang.Double"),
        exact: number("9".repeat(38)),
        bytes: binary(Array.from({ length: 256 }, (_, i) => i)),
        image: binary([0], "Binary.png"),
        ["n".repeat(256)]: text("long name"),
        "a-b_c.d": text("[1,2]", "String.Array"),
      };
      const { sent, got } = await roundTrip(attributes);
      sameAttributes(got.MessageAttributes, attributes);
      assert.equal(sent.MD5OfMessageAttributes, md5OfAttributes(attributes));
      assert.equal(got.MD5OfMessageAttributes, md5OfAttributes(attributes));
    });

    it("accepts every form of a number and gives it back as it was written", async () => {
      const numbers = ["0", "-0", "007", "+5", "3.14159", "-1.5", "1e10", "1E+2", "1e-128", "1e126", "1".repeat(38)];
      await each(
        numbers.map((n) => [n]),
        async (n) => {
          const { got } = await roundTrip({ n: number(n) });
          assert.equal(got.MessageAttributes.n.StringValue, n);
        },
      );
    });

    it("gives only those asked for, with the MD5 of these", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      await queue.send("message", { MessageAttributes: kenobi });
      const all = ["General", "Hello", "Help.Me"];
      await each(
        [
          [["All"], all],
          [[".*"], all],
          [["*"], all],
          [["Hel.*"], ["Hello", "Help.Me"]],
          [["Help.*"], ["Help.Me"]],
          [["Hello"], ["Hello"]],
          [
            ["Hello", "General"],
            ["General", "Hello"],
          ],
          [["Hello", "All"], all],
          [["hello"], []],
          [["Hel*"], []],
          [["Unknown", "Hello"], ["Hello"]],
          [["[bad", "Hello"], ["Hello"]],
          [["Unknown"], []],
          [[], []],
          [undefined, []],
        ],
        async (MessageAttributeNames, expected) => {
          const got = await queue.take({ MessageAttributeNames });
          const chosen = Object.fromEntries(expected.map((name) => [name, kenobi[name]]));
          if (expected.length === 0) {
            assert.equal("MessageAttributes" in got, false);
            assert.equal("MD5OfMessageAttributes" in got, false);
          } else {
            sameAttributes(got.MessageAttributes, chosen);
            assert.equal(got.MD5OfMessageAttributes, md5OfAttributes(chosen));
          }
        },
      );
    });

    it("refuses what is not an attribute", async () => {
      const queue = await t.queue();
      const named = (name) => [`name ${name.slice(0, 20)}`, { [name]: text("x") }];
      const typed = (DataType, value = { StringValue: "1" }) => [`type ${DataType}`, { a: { DataType, ...value } }];
      const numbers = ["", "abc", "1,5", "0x10", "NaN", "Infinity", "1 2", "1".repeat(39), "1e127", "1e-129"];
      await each(
        [
          ...["AWS.x", "aws.x", "Amazon.x", "AMAZON.x", ".x", "x.", "a..b", "a b", "a/b", "n".repeat(257)].map(named),
          ["name empty", { "": text("x") }],
          ...["", "string", "Text", "Float", "Binary2", "StringX", `String.${"x".repeat(250)}`].map((type) =>
            typed(type),
          ),
          ["type missing", { a: { StringValue: "x" } }],
          ["value missing", { a: { DataType: "String" } }],
          ["value empty", { a: text("") }],
          ["bytes empty", { a: binary([]) }],
          ["text for bytes", { a: { DataType: "Binary", StringValue: "x" } }],
          ["bytes for text", { a: { DataType: "String", BinaryValue: Buffer.from("x") } }],
          ["illegal character", { a: text("a\u0001b") }],
          ...numbers.map((n) => [`number ${n.slice(0, 20)}`, { a: number(n) }]),
          ["eleven", Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`a${i}`, text("x")]))],
        ],
        (_, MessageAttributes) => refused(queue.send("x", { MessageAttributes }), "InvalidParameterValue"),
      );
      await each(
        [
          ["StringListValues", { DataType: "String", StringListValues: ["x"] }],
          ["BinaryListValues", { DataType: "Binary", BinaryListValues: [Buffer.from("x")] }],
        ],
        (_, a) => refused(queue.send("x", { MessageAttributes: { a } }), "UnsupportedOperation"),
      );
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
    });
  });

  describe("system attributes", TOGETHER, () => {
    it("tells who sent it, when, and how often it was received since when", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      await queue.send("x");
      const first = (await queue.take()).Attributes;
      assert.deepEqual(Object.keys(first).sort(), [
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "SenderId",
        "SentTimestamp",
      ]);
      assertRecent(first.SentTimestamp);
      assertRecent(first.ApproximateFirstReceiveTimestamp);
      assert.ok(Number(first.ApproximateFirstReceiveTimestamp) >= Number(first.SentTimestamp));
      assert.equal(first.ApproximateReceiveCount, "1");

      const second = (await queue.take()).Attributes;
      assert.deepEqual(second, { ...first, ApproximateReceiveCount: "2" });
    });

    it("calls the sender by its access key id", async () => {
      const queue = await t.queue();
      await queue.send("x");
      assert.equal((await queue.take()).Attributes.SenderId, CREDENTIALS.accessKeyId);
    });

    it("gives those asked for by the new or the old name of the parameter, or by both", async () => {
      const queue = await t.queue({ VisibilityTimeout: "0" });
      await queue.send("x");
      const ask = async (more) => Object.keys((await queue.take(more)).Attributes ?? {}).sort();
      const names = (...list) => ({ MessageSystemAttributeNames: list, AttributeNames: undefined });
      assert.deepEqual(await ask(names("SentTimestamp")), ["SentTimestamp"]);
      assert.deepEqual(await ask({ AttributeNames: ["SentTimestamp"], MessageSystemAttributeNames: undefined }), [
        "SentTimestamp",
      ]);
      assert.deepEqual(await ask({ ...names("SenderId"), AttributeNames: ["SentTimestamp"] }), [
        "SenderId",
        "SentTimestamp",
      ]);
      assert.deepEqual(await ask({ AttributeNames: ["All"], MessageSystemAttributeNames: undefined }), [
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "SenderId",
        "SentTimestamp",
      ]);
      assert.deepEqual(await ask(names("SequenceNumber", "SenderId", "Nonsense")), ["SenderId"]);
      for (const none of [names(), names("SequenceNumber"), names("Nonsense")])
        assert.equal("Attributes" in (await queue.take(none)), false);
    });

    it("carries a trace header, from the attribute or from the request, and the attribute wins", async () => {
      const queue = await t.queue();
      const MessageSystemAttributes = { AWSTraceHeader: text(TRACE) };
      const sent = await queue.send("x", { MessageSystemAttributes, MessageAttributes: { a: text("b") } });
      assert.equal(sent.MD5OfMessageSystemAttributes, "5ae4d5d7636402d80f4eb6d213245a88");
      assert.equal(sent.MD5OfMessageAttributes, md5OfAttributes({ a: text("b") }));
      const got = await queue.take();
      assert.equal(got.Attributes.AWSTraceHeader, TRACE);
      assert.equal("MessageAttributes" in got, false);

      const other = "Root=1-5759e988-bd862e3fe1be46a994272794";
      const headers = { "X-Amzn-Trace-Id": other };
      await t.json("SendMessage", { QueueUrl: queue.url, MessageBody: "by header" }, { headers });
      assert.equal((await queue.take()).Attributes.AWSTraceHeader, other);

      const both = { QueueUrl: queue.url, MessageBody: "both", MessageSystemAttributes };
      await t.json("SendMessage", both, { headers });
      assert.equal((await queue.take()).Attributes.AWSTraceHeader, TRACE);
    });

    it("refuses other system attributes and other types", async () => {
      const queue = await t.queue();
      await each(
        [
          ["unknown name", { SenderId: text("me") }],
          ["a number", { AWSTraceHeader: number(1) }],
          ["bytes", { AWSTraceHeader: binary([1]) }],
          ["empty", { AWSTraceHeader: text("") }],
        ],
        (_, MessageSystemAttributes) => refused(queue.send("x", { MessageSystemAttributes }), "InvalidParameterValue"),
      );
    });
  });

  describe("receiving", TOGETHER, () => {
    it("hands out in the order sent, as many as asked for and there are", async () => {
      const queue = await t.queue();
      const sent = Array.from({ length: 25 }, (_, i) => `${i}`);
      await queue.fill(...sent);
      const got = [];
      for (const max of [1, 10, 3, 10, 10]) got.push(await queue.bodies({ MaxNumberOfMessages: max }));
      assert.deepEqual(
        got.map(({ length }) => length),
        [1, 10, 3, 10, 1],
      );
      assert.deepEqual(got.flat(), sent);
      const one = await t.queue();
      await one.fill("a", "b");
      assert.deepEqual(await one.bodies({ MaxNumberOfMessages: undefined }), ["a"]);
    });

    it("answers without Messages when there are none", async () => {
      const queue = await t.queue();
      const answer = await t.json("ReceiveMessage", { QueueUrl: queue.url });
      assert.deepEqual([answer.status, answer.text], [200, "{}"]);
    });

    it("gives no message to two receivers", async () => {
      const queue = await t.queue();
      await queue.fill(...Array.from({ length: 60 }, (_, i) => `${i}`));
      const all = await Promise.all(Array.from({ length: 30 }, () => queue.bodies({ MaxNumberOfMessages: 3 })));
      const bodies = all.flat();
      assert.deepEqual([bodies.length, new Set(bodies).size], [60, 60]);
    });

    it("ignores a receive attempt id on a standard queue", async () => {
      const queue = await t.queue();
      await queue.fill("a", "b");
      const attempt = { MaxNumberOfMessages: 1, ReceiveRequestAttemptId: "same" };
      assert.deepEqual([await queue.bodies(attempt), await queue.bodies(attempt)], [["a"], ["b"]]);
    });

    it("ignores members that it does not know and takes null for absent", async () => {
      const queue = await t.queue();
      const more = { Unknown: { a: [1] }, DelaySeconds: null, MessageAttributes: null };
      const sent = await t.json("SendMessage", { QueueUrl: queue.url, MessageBody: "x", ...more });
      assert.equal(sent.status, 200, sent.text);
      const asked = { QueueUrl: queue.url, AttributeNames: null, MaxNumberOfMessages: null };
      const got = await t.json("ReceiveMessage", asked);
      assert.equal(got.json().Messages[0].Body, "x");
    });
  });
});

// SNS as far as it feeds queues: topics, subscriptions, batches, FIFO topics.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ACCOUNT, each, REGION, sha256, text, TOGETHER, unique, UUID, waitFor, world } from "./harness.mjs";
import { pages, RAW, refused, topicsOf, UNKNOWN_TOPIC, verified } from "./topics.mjs";

const ARN = new RegExp(`^arn:aws:sns:${REGION}:${ACCOUNT}:`);

describe("SNS", TOGETHER, () => {
  const t = world();
  const { topic, subscribe, publish, connected } = topicsOf(t);

  describe("topics", TOGETHER, () => {
    it("creates, lists, deletes", async () => {
      const Name = unique("topic");
      const { TopicArn } = await t.sns.createTopic({ Name });
      assert.equal(TopicArn, `arn:aws:sns:${REGION}:${ACCOUNT}:${Name}`);
      assert.equal((await t.sns.createTopic({ Name })).TopicArn, TopicArn);
      const listed = async () =>
        (await pages((NextToken) => t.sns.listTopics({ NextToken }))).map((one) => one.TopicArn);
      assert.ok((await listed()).includes(TopicArn));
      await t.sns.deleteTopic({ TopicArn });
      await t.sns.deleteTopic({ TopicArn });
      assert.ok(!(await listed()).includes(TopicArn));
      await refused(t.sns.getTopicAttributes({ TopicArn }), "NotFound");
    });

    it("takes legal names only", async () => {
      await each([["a"], ["A-Z_09"], ["x".repeat(256)]], (Name) => t.sns.createTopic({ Name }));
      await each([["with blank"], ["dot.ted"], ["x".repeat(257)], ["plain.fifo"], [""]], (Name) =>
        refused(t.sns.createTopic({ Name }), "InvalidParameter"),
      );
      await refused(t.sns.createTopic({ Name: unique(), Attributes: { FifoTopic: "true" } }), "InvalidParameter");
    });

    it("has attributes, of which some can be set", async () => {
      const TopicArn = await topic({ DisplayName: "first" });
      const attributes = async () => (await t.sns.getTopicAttributes({ TopicArn })).Attributes;
      const before = await attributes();
      assert.equal(before.TopicArn, TopicArn);
      assert.equal(before.Owner, ACCOUNT);
      assert.equal(before.DisplayName, "first");
      assert.ok(JSON.parse(before.Policy) && JSON.parse(before.EffectiveDeliveryPolicy));
      for (const state of ["Confirmed", "Pending", "Deleted"]) assert.equal(before[`Subscriptions${state}`], "0");
      const set = (AttributeName, AttributeValue) =>
        t.sns.setTopicAttributes({ TopicArn, AttributeName, AttributeValue });
      await set("DisplayName", "second");
      await subscribe(TopicArn, await t.queue());
      const after = await attributes();
      assert.deepEqual([after.DisplayName, after.SubscriptionsConfirmed], ["second", "1"]);
      await refused(set("Owner", "me"), "InvalidParameter");
      await refused(set("Nonsense", "x"), "InvalidParameter");
      const Name = TopicArn.split(":").at(-1);
      await refused(t.sns.createTopic({ Name, Attributes: { DisplayName: "third" } }), "InvalidParameter");
    });

    it("has tags", async () => {
      const Name = unique("topic");
      const { TopicArn: ResourceArn } = await t.sns.createTopic({ Name, Tags: [{ Key: "a", Value: "1" }] });
      await t.sns.tagResource({
        ResourceArn,
        Tags: [
          { Key: "b", Value: "<&>" },
          { Key: "a", Value: "2" },
        ],
      });
      const tags = async () => {
        const { Tags } = await t.sns.listTagsForResource({ ResourceArn });
        return Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value]));
      };
      assert.deepEqual(await tags(), { a: "2", b: "<&>" });
      await t.sns.untagResource({ ResourceArn, TagKeys: ["a", "unknown"] });
      assert.deepEqual(await tags(), { b: "<&>" });
      await refused(t.sns.listTagsForResource({ ResourceArn: UNKNOWN_TOPIC }), "ResourceNotFound");
    });
  });

  describe("subscriptions", TOGETHER, () => {
    it("of queues are confirmed at once, and are there once", async () => {
      const { TopicArn, queue, SubscriptionArn } = await connected();
      assert.match(SubscriptionArn, ARN);
      assert.ok(SubscriptionArn.startsWith(`${TopicArn}:`) && UUID.test(SubscriptionArn.split(":").at(-1)));
      assert.equal(await subscribe(TopicArn, queue), SubscriptionArn);
      await refused(subscribe(TopicArn, queue, RAW), "InvalidParameter");
      const mine = { SubscriptionArn, Owner: ACCOUNT, Protocol: "sqs", Endpoint: queue.arn, TopicArn };
      assert.deepEqual((await t.sns.listSubscriptionsByTopic({ TopicArn })).Subscriptions, [mine]);
      const all = await pages((NextToken) => t.sns.listSubscriptions({ NextToken }));
      assert.deepEqual(
        all.find((one) => one.SubscriptionArn === SubscriptionArn),
        mine,
      );
    });

    it("have attributes, of which some can be set", async () => {
      const { TopicArn, queue, SubscriptionArn } = await connected(RAW);
      const attributes = async () => (await t.sns.getSubscriptionAttributes({ SubscriptionArn })).Attributes;
      const set = (AttributeName, AttributeValue) =>
        t.sns.setSubscriptionAttributes({ SubscriptionArn, AttributeName, AttributeValue });
      const before = await attributes();
      assert.deepEqual(
        [before.SubscriptionArn, before.TopicArn, before.Protocol, before.Endpoint, before.Owner],
        [SubscriptionArn, TopicArn, "sqs", queue.arn, ACCOUNT],
      );
      assert.deepEqual([before.RawMessageDelivery, before.PendingConfirmation], ["true", "false"]);
      await set("RawMessageDelivery", "false");
      await set("FilterPolicy", '{"a":["b"]}');
      const after = await attributes();
      assert.deepEqual([after.RawMessageDelivery, JSON.parse(after.FilterPolicy)], ["false", { a: ["b"] }]);
      await set("FilterPolicy", "{}");
      await publish(TopicArn, "unfiltered");
      assert.equal((await queue.receive()).length, 1);
      await refused(set("Endpoint", "x"), "InvalidParameter");
      await refused(set("Nonsense", "x"), "InvalidParameter");
      await refused(set("FilterPolicy", "nonsense"), "InvalidParameter");
    });

    it("are all there when many come at once, and each once", async () => {
      const TopicArn = await topic();
      const queues = await Promise.all(Array.from({ length: 12 }, () => t.queue()));
      const arns = await Promise.all([...queues, ...queues].map((queue) => subscribe(TopicArn, queue, RAW)));
      assert.equal(new Set(arns).size, queues.length);
      await publish(TopicArn, "x");
      for (const queue of queues) assert.deepEqual(await queue.bodies(), ["x"]);
      const all = await pages((NextToken) => t.sns.listSubscriptionsByTopic({ TopicArn, NextToken }));
      assert.equal(all.length, queues.length);
    });

    it("end with Unsubscribe, with the topic, and for good", async () => {
      const { TopicArn, queue, SubscriptionArn } = await connected(RAW);
      await t.sns.unsubscribe({ SubscriptionArn });
      await t.sns.unsubscribe({ SubscriptionArn });
      await publish(TopicArn, "x");
      assert.deepEqual(await queue.receive(), []);
      await refused(t.sns.getSubscriptionAttributes({ SubscriptionArn }), "NotFound");

      const other = await connected(RAW);
      await t.sns.deleteTopic({ TopicArn: other.TopicArn });
      await refused(t.sns.getSubscriptionAttributes({ SubscriptionArn: other.SubscriptionArn }), "NotFound");
    });

    it("are refused when they make no sense", async () => {
      const [TopicArn, FifoArn, queue, fifo] = [
        await topic(),
        await topic({ FifoTopic: "true" }),
        await t.queue(),
        await t.fifo(),
      ];
      await each(
        [
          ["unknown topic", { TopicArn: UNKNOWN_TOPIC, Protocol: "sqs", Endpoint: queue.arn }, "NotFound"],
          ["unknown protocol", { TopicArn, Protocol: "pigeon", Endpoint: queue.arn }, "InvalidParameter"],
          ["a URL for a queue", { TopicArn, Protocol: "sqs", Endpoint: queue.url }, "InvalidParameter"],
          ["a FIFO queue and a standard topic", { TopicArn, Protocol: "sqs", Endpoint: fifo.arn }, "InvalidParameter"],
          ["https for http", { TopicArn, Protocol: "http", Endpoint: "https://127.0.0.1/" }, "InvalidParameter"],
          ["an ARN for http", { TopicArn, Protocol: "http", Endpoint: queue.arn }, "InvalidParameter"],
          [
            "unknown attribute",
            { TopicArn, Protocol: "sqs", Endpoint: queue.arn, Attributes: { Nonsense: "1" } },
            "InvalidParameter",
          ],
        ],
        (_, input, code) => refused(t.sns.subscribe(input), code),
      );
      await subscribe(FifoArn, queue);
      await subscribe(FifoArn, fifo);
    });
  });

  it("answers in the form that clients of any language expect", async () => {
    const call = async (action, fields) => {
      const answer = await t.query(action, fields, { service: "sns" });
      assert.equal(answer.status, 200, answer.text);
      return answer.result;
    };
    const TopicArn = await topic();
    const Name = TopicArn.split(":").at(-1);
    const queue = await t.queue();
    assert.deepEqual(await call("CreateTopic", { Name }), { TopicArn: [TopicArn] });
    const input = { TopicArn, Protocol: "sqs", Endpoint: queue.arn };
    const attributes = { "Attributes.entry.1.key": "RawMessageDelivery", "Attributes.entry.1.value": "true" };
    const [SubscriptionArn] = (await call("Subscribe", { ...input, ...attributes })).SubscriptionArn;
    const { Subscriptions } = await call("ListSubscriptionsByTopic", { TopicArn });
    assert.deepEqual(Subscriptions[0].member[0].SubscriptionArn, [SubscriptionArn]);
    const { Attributes } = await call("GetSubscriptionAttributes", { SubscriptionArn });
    const entries = Attributes[0].entry.map(({ key, value }) => [key[0], value[0]]);
    assert.equal(Object.fromEntries(entries).RawMessageDelivery, "true");

    const published = await call("Publish", {
      TopicArn,
      Message: "on the <wire>",
      "MessageAttributes.entry.1.Name": "a",
      "MessageAttributes.entry.1.Value.DataType": "String",
      "MessageAttributes.entry.1.Value.StringValue": "b",
    });
    assert.match(published.MessageId[0], UUID);
    const got = await queue.take({ MessageAttributeNames: ["All"] });
    assert.deepEqual([got.Body, got.MessageAttributes.a.StringValue], ["on the <wire>", "b"]);

    const tags = { ResourceArn: TopicArn, "Tags.member.1.Key": "k", "Tags.member.1.Value": "v" };
    assert.equal(await call("TagResource", tags), "");
    assert.equal(await call("UntagResource", { ResourceArn: TopicArn, "TagKeys.member.1": "k" }), "");
    const set = { AttributeName: "DisplayName", AttributeValue: "x" };
    assert.equal(await call("SetTopicAttributes", { TopicArn, ...set }), undefined);
    const raw = { AttributeName: "RawMessageDelivery", AttributeValue: "false" };
    assert.equal(await call("SetSubscriptionAttributes", { SubscriptionArn, ...raw }), undefined);
    assert.equal(await call("Unsubscribe", { SubscriptionArn }), undefined);
    assert.equal(await call("DeleteTopic", { TopicArn }), undefined);
    const unknown = await t.query("Nonsense", {}, { service: "sns" });
    assert.deepEqual(unknown.error, { code: "InvalidAction", status: 400 });
  });

  describe("batches", TOGETHER, () => {
    const batch = (TopicArn, ...entries) =>
      t.sns.publishBatch({
        TopicArn,
        PublishBatchRequestEntries: entries.map(([Id, Message, more]) => ({ Id, Message, ...more })),
      });

    it("publish all, and fail bad entries alone", async () => {
      const { TopicArn, queue } = await connected(RAW);
      const { Successful, Failed } = await batch(
        TopicArn,
        ["a", "one"],
        ["b", ""],
        ["c", "two", { MessageAttributes: { k: text("x") } }],
      );
      assert.deepEqual(Successful.map(({ Id }) => Id).sort(), ["a", "c"]);
      assert.ok(Successful.every(({ MessageId }) => UUID.test(MessageId)));
      assert.deepEqual(
        Failed.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault]),
        [["b", "InvalidParameter", true]],
      );
      const got = await queue.receive({ MessageAttributeNames: ["All"] });
      assert.deepEqual(
        got.map(({ Body, MessageAttributes }) => [Body, MessageAttributes?.k.StringValue]),
        [
          ["one", undefined],
          ["two", "x"],
        ],
      );
    });

    it("are refused when ill-formed", async () => {
      const TopicArn = await topic();
      const eleven = Array.from({ length: 11 }, (_, i) => [`${i}`, "x"]);
      await refused(batch(TopicArn, ...eleven), "TooManyEntriesInBatchRequest");
      await refused(batch(TopicArn, ["a", "x"], ["a", "y"]), "BatchEntryIdsNotDistinct");
      await refused(batch(TopicArn, ["a b", "x"]), "InvalidBatchEntryId");
      await refused(batch(TopicArn, ["a", "x".repeat(200_000)], ["b", "x".repeat(100_000)]), "BatchRequestTooLong");
      await refused(batch(UNKNOWN_TOPIC, ["a", "x"]), "NotFound");
      const error = await batch(TopicArn).catch((reason) => reason);
      assert.match(error.Code ?? error.Error?.Code, /^(EmptyBatchRequest|ValidationError)$/);
    });
  });

  describe("FIFO topics", TOGETHER, () => {
    const FIFO = { FifoTopic: "true" };

    it("pass on group, order and deduplication id to FIFO queues", async () => {
      const { TopicArn, queue } = await connected(RAW, FIFO);
      const sent = [];
      for (let i = 0; i < 5; i += 1)
        sent.push(await publish(TopicArn, `${i}`, { MessageGroupId: "g", MessageDeduplicationId: `d${i}` }));
      const numbers = sent.map(({ SequenceNumber }) => SequenceNumber);
      assert.ok(numbers.every((n) => /^\d{20}$/.test(n)));
      assert.deepEqual([...new Set(numbers)].sort(), numbers);
      const got = await queue.receive();
      assert.deepEqual(
        got.map(({ Body, Attributes }) => [Body, Attributes.MessageGroupId, Attributes.MessageDeduplicationId]),
        Array.from({ length: 5 }, (_, i) => [`${i}`, "g", `d${i}`]),
      );
    });

    it("deduplicate over the topic, by id or by content", async () => {
      const given = await connected(RAW, FIFO);
      for (const body of ["first", "second"])
        await publish(given.TopicArn, body, { MessageGroupId: "g", MessageDeduplicationId: "same" });
      assert.deepEqual(await given.queue.bodies(), ["first"]);

      const content = await connected(RAW, { ...FIFO, ContentBasedDeduplication: "true" });
      for (const body of ["same", "same", "other"]) await publish(content.TopicArn, body, { MessageGroupId: "g" });
      const got = await content.queue.receive();
      assert.deepEqual(
        got.map(({ Body }) => Body),
        ["same", "other"],
      );
      assert.equal(got[0].Attributes.MessageDeduplicationId, sha256("same"));
    });

    it("answer a duplicate with the first message's id and number, and enqueue nothing anywhere", async () => {
      const TopicArn = await topic(FIFO);
      const queue = await t.queue();
      await subscribe(TopicArn, queue, RAW);
      const ids = { MessageGroupId: "g", MessageDeduplicationId: "same" };
      const seen = ({ MessageId, SequenceNumber }) => [MessageId, SequenceNumber];
      const first = seen(await publish(TopicArn, "first", ids));
      const late = await t.queue();
      await subscribe(TopicArn, late, RAW);
      const again = await Promise.all(["a", "b", "c"].map((body) => publish(TopicArn, body, ids)));
      assert.deepEqual(again.map(seen), [first, first, first]);
      assert.deepEqual([await queue.bodies(), await late.bodies()], [["first"], []]);

      const entries = ["same", "other", "other"].map((MessageDeduplicationId, i) => ({
        Id: `${i}`,
        Message: `batch ${i}`,
        MessageGroupId: "g",
        MessageDeduplicationId,
      }));
      const { Successful } = await t.sns.publishBatch({ TopicArn, PublishBatchRequestEntries: entries });
      assert.deepEqual(seen(Successful[0]), first);
      assert.deepEqual(seen(Successful[1]), seen(Successful[2]));
      assert.notDeepEqual(seen(Successful[1]), first);
      assert.deepEqual(await late.bodies(), ["batch 1"]);
    });

    it("forget with the topic what they have seen", async () => {
      const { TopicArn } = await connected(RAW, FIFO);
      const ids = { MessageGroupId: "g", MessageDeduplicationId: "same" };
      const { MessageId } = await publish(TopicArn, "first", ids);
      await t.sns.deleteTopic({ TopicArn });
      await t.sns.createTopic({ Name: TopicArn.split(":").at(-1), Attributes: FIFO });
      assert.notEqual((await publish(TopicArn, "second", ids)).MessageId, MessageId);
    });

    it("ask for a group and a deduplication id", async () => {
      const TopicArn = await topic(FIFO);
      await refused(publish(TopicArn, "x", { MessageDeduplicationId: "d" }), "InvalidParameter");
      await refused(publish(TopicArn, "x", { MessageGroupId: "g" }), "InvalidParameter");
    });

    it("feed standard queues too, without group and deduplication id; envelopes have the sequence number", async () => {
      const TopicArn = await topic(FIFO);
      const [queue, fifo] = [await t.queue(), await t.fifo()];
      await subscribe(TopicArn, queue, RAW);
      await subscribe(TopicArn, fifo);
      const { SequenceNumber } = await publish(TopicArn, "x", { MessageGroupId: "g", MessageDeduplicationId: "d" });
      const { Attributes, Body } = await queue.take();
      assert.equal(Body, "x");
      assert.equal("MessageGroupId" in Attributes || "MessageDeduplicationId" in Attributes, false);
      const envelope = JSON.parse((await fifo.take()).Body);
      assert.deepEqual(Object.keys(envelope), [
        "Type",
        "MessageId",
        "SequenceNumber",
        "TopicArn",
        "Message",
        "Timestamp",
        "UnsubscribeURL",
      ]);
      assert.equal(envelope.SequenceNumber, SequenceNumber);
    });
  });
});

describe("lists of SNS", () => {
  const t = world(); // of its own: nobody deletes topics meanwhile

  it("have a hundred a page, each topic once", async () => {
    const names = Array.from({ length: 105 }, () => unique("topic"));
    const made = await Promise.all(names.map(async (Name) => (await t.sns.createTopic({ Name })).TopicArn));
    const first = await t.sns.listTopics({});
    assert.equal(first.Topics.length, 100);
    assert.ok(first.NextToken);
    const all = (await pages((NextToken) => t.sns.listTopics({ NextToken }))).map(({ TopicArn }) => TopicArn);
    assert.equal(new Set(all).size, all.length);
    assert.ok(made.every((arn) => all.includes(arn)));
    await refused(t.sns.listTopics({ NextToken: "nonsense" }), "InvalidParameter");
    await refused(t.sns.listSubscriptions({ NextToken: "non sense" }), "InvalidParameter");
  });

  it("have a hundred subscriptions a page, over topics and in one", async () => {
    const topics = [unique("few"), unique("many")];
    const [few, many] = await Promise.all(topics.map(async (Name) => (await t.sns.createTopic({ Name })).TopicArn));
    const arn = (i) => `arn:aws:sqs:${REGION}:${ACCOUNT}:queue-${i}`; // of queues that are not there
    const enter = (TopicArn, i) => t.sns.subscribe({ TopicArn, Protocol: "sqs", Endpoint: arn(i) });
    await enter(few, 0);
    for (let i = 0; i < 105; i += 1) await enter(many, i);
    const first = await t.sns.listSubscriptionsByTopic({ TopicArn: many });
    assert.equal(first.Subscriptions.length, 100);
    const each = await pages((NextToken) => t.sns.listSubscriptionsByTopic({ TopicArn: many, NextToken }));
    assert.equal(new Set(each.map(({ Endpoint }) => Endpoint)).size, 105);
    const everywhere = await pages((NextToken) => t.sns.listSubscriptions({ NextToken }));
    const all = everywhere.filter(({ TopicArn }) => TopicArn === few || TopicArn === many);
    assert.equal(new Set(all.map(({ SubscriptionArn }) => SubscriptionArn)).size, 106);
    assert.equal(all.length, 106);
    assert.ok((await publishTo(many)).MessageId); // nobody is there to get it
  });

  const publishTo = (TopicArn) => t.sns.publish({ TopicArn, Message: "x" });
});

describe("SNS and a restart", () => {
  const t = world();
  const { topic, subscribe, publish, connected } = topicsOf(t);

  it("keep topics, subscriptions, the signing key and what was seen before", async () => {
    const plain = await connected({ FilterPolicy: '{"k":["v"]}' });
    const fifo = await connected(RAW, { FifoTopic: "true" });
    const gone = await connected(RAW);
    await t.sns.unsubscribe({ SubscriptionArn: gone.SubscriptionArn });
    const deleted = await topic();
    await t.sns.deleteTopic({ TopicArn: deleted });
    const ids = { MessageGroupId: "g", MessageDeduplicationId: "d" };
    const before = await publish(fifo.TopicArn, "once", ids);
    const more = { MessageAttributes: { k: text("v") } };
    await publish(plain.TopicArn, "first", more);
    const certificate = async (envelope) => (await fetch(envelope.SigningCertURL)).text();
    const first = JSON.parse((await plain.queue.take()).Body);
    const pem = await certificate(first);

    await t.server.kill();
    const checked = await t.server.command("verify");
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);
    await t.server.start();

    assert.equal(await certificate(first), pem);
    const again = await publish(fifo.TopicArn, "twice", ids);
    assert.deepEqual([again.MessageId, again.SequenceNumber], [before.MessageId, before.SequenceNumber]);
    const next = await publish(fifo.TopicArn, "next", { ...ids, MessageDeduplicationId: "e" });
    assert.ok(next.SequenceNumber > before.SequenceNumber);
    assert.deepEqual(await fifo.queue.bodies(), ["once", "next"]);
    await publish(plain.TopicArn, "filtered");
    await publish(plain.TopicArn, "second", more);
    const second = JSON.parse((await plain.queue.take()).Body);
    assert.equal(second.Message, "second");
    await verified(second);
    assert.equal(await subscribe(plain.TopicArn, plain.queue), plain.SubscriptionArn);
    await publish(gone.TopicArn, "x");
    assert.deepEqual(await gone.queue.receive(), []);
    await refused(t.sns.getTopicAttributes({ TopicArn: deleted }), "NotFound");
  });

  it("have a message in all queues or in none, whenever the end comes", async () => {
    const TopicArn = await topic();
    const fifoTopic = await topic({ FifoTopic: "true" });
    const queues = [await t.queue(), await t.queue(), await t.queue()];
    const once = [await t.fifo(), await t.queue()];
    for (const queue of queues) await subscribe(TopicArn, queue, RAW);
    for (const queue of once) await subscribe(fifoTopic, queue, RAW);
    const [told, begun] = [[], []];
    const ids = (i) => ({ MessageGroupId: `${i % 7}`, MessageDeduplicationId: `d${i}` });
    let going = true;
    const publishers = Array.from({ length: 16 }, async () => {
      while (going) {
        const i = begun.length;
        begun.push(`${i}`);
        try {
          await publish(fifoTopic, `${i}`, ids(i));
          await publish(TopicArn, `${i}`);
          told.push(`${i}`);
        } catch {
          return; // the server is gone
        }
      }
    });
    await waitFor(() => told.length > 50, "some publishes");
    await t.server.kill();
    going = false;
    await Promise.all(publishers);
    await t.server.start();

    const all = async (queue) => {
      const bodies = [];
      for (let some = await queue.receive(); some.length > 0; some = await queue.receive()) {
        for (const message of some) await queue.delete(message);
        bodies.push(...some.map(({ Body }) => Body));
      }
      return bodies.sort((a, b) => a - b);
    };
    const [first, second, third] = [await all(queues[0]), await all(queues[1]), await all(queues[2])];
    assert.deepEqual([second, third], [first, first]);
    assert.equal(new Set(first).size, first.length);
    const got = new Set(first);
    assert.deepEqual(
      told.filter((one) => !got.has(one)),
      [],
    );
    // Whoever was not told asks again, and nothing comes twice.
    for (const one of begun) await publish(fifoTopic, one, ids(Number(one)));
    for (const queue of once) assert.deepEqual(await all(queue), begun);
  });
});

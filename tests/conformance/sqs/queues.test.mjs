// Queues themselves: names, URLs, lists, tags, permissions.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SQS } from "@aws-sdk/client-sqs";
import { ACCOUNT, each, Queue, refused, REGION, TOGETHER, unique, world } from "./harness.mjs";

const NO_SUCH = "no-such-queue";

describe("queues", TOGETHER, () => {
  const t = world();

  describe("names and URLs", TOGETHER, () => {
    it("answers a URL with the host that was called, the account and the name", async () => {
      const QueueName = unique();
      const { QueueUrl } = await t.sqs.createQueue({ QueueName });

      assert.equal(QueueUrl, `${t.server.url}/${ACCOUNT}/${QueueName}`);
      assert.equal((await t.sqs.getQueueUrl({ QueueName })).QueueUrl, QueueUrl);

      const headers = { Host: "queues.example:8443" };
      const elsewhere = `http://queues.example:8443/${ACCOUNT}/${QueueName}`;
      assert.equal((await t.json("GetQueueUrl", { QueueName }, { headers })).json().QueueUrl, elsewhere);
      const listed = await t.json("ListQueues", { QueueNamePrefix: QueueName }, { headers });
      assert.deepEqual(listed.json().QueueUrls, [elsewhere]);
    });

    it("is reached by a client that knows nothing but the queue's URL", async () => {
      const queue = await t.queue();
      const client = t.connect(SQS, { endpoint: undefined });

      await client.sendMessage({ QueueUrl: queue.url, MessageBody: "by URL" });

      assert.equal((await queue.take()).Body, "by URL");
      client.destroy();
    });

    it("accepts every legal name and refuses the others", async () => {
      const legal = ["a", "A-Z_09", "x".repeat(80)].map((name) => [name, {}]);
      const fifo = ["a.fifo", `${"x".repeat(75)}.fifo`].map((name) => [name, { FifoQueue: "true" }]);
      await each([...legal, ...fifo], async (QueueName, Attributes) => {
        const { QueueUrl } = await t.sqs.createQueue({ QueueName, Attributes });
        assert.ok(QueueUrl.endsWith(`/${QueueName}`), QueueUrl);
        await t.sqs.deleteQueue({ QueueUrl });
      });
      await each(
        [
          ["x".repeat(81)],
          ["with blank"],
          ["dot.ted"],
          ["ümlaut"],
          ["sla/sh"],
          ["a:b"],
          ["plain.fifo"],
          [".fifo", { FifoQueue: "true" }],
          [`${"x".repeat(76)}.fifo`, { FifoQueue: "true" }],
          ["fifo-without-suffix", { FifoQueue: "true" }],
          ["wrong.Fifo", { FifoQueue: "true" }],
        ],
        (QueueName, Attributes) => refused(t.sqs.createQueue({ QueueName, Attributes }), "InvalidParameterValue"),
      );
    });

    it("tells names apart by case", async () => {
      const QueueName = unique("Case");
      await t.sqs.createQueue({ QueueName });
      await refused(t.sqs.getQueueUrl({ QueueName: QueueName.toLowerCase() }), "QueueDoesNotExist");
    });

    it("gives a URL for its own account and for no other", async () => {
      const { name, url } = await t.queue();
      const ask = (QueueOwnerAWSAccountId) => t.sqs.getQueueUrl({ QueueName: name, QueueOwnerAWSAccountId });
      assert.equal((await ask(ACCOUNT)).QueueUrl, url);
      await refused(ask("111111111111"), "QueueDoesNotExist");
      await refused(t.sqs.getQueueUrl({ QueueName: NO_SUCH }), "QueueDoesNotExist");
    });

    it("finds a queue by any URL that ends in its account and name, and by its bare name", async () => {
      const { name, url } = await t.queue();
      const AttributeNames = ["QueueArn"];
      await each(
        [
          [`https://sqs.us-east-1.amazonaws.com/${ACCOUNT}/${name}`],
          [`http://elsewhere:1/some/prefix/${ACCOUNT}/${name}`],
          [`${url}/`],
          [name],
        ],
        async (QueueUrl) => {
          const { Attributes } = await t.sqs.getQueueAttributes({ QueueUrl, AttributeNames });
          assert.ok(Attributes.QueueArn.endsWith(`:${name}`));
        },
      );
      await each(
        [
          [`${t.server.url}/111111111111/${name}`],
          [`${t.server.url}/${ACCOUNT}/${NO_SUCH}`],
          [NO_SUCH],
          [""],
          [undefined],
        ],
        (QueueUrl) => refused(t.sqs.getQueueAttributes({ QueueUrl, AttributeNames }), "QueueDoesNotExist"),
      );
    });

    it("puts the region of the call that created the queue into its ARN, and shows the queue in all regions", async () => {
      const QueueName = unique();
      const abroad = t.connect(SQS, { region: "eu-west-1" });
      const { QueueUrl } = await abroad.createQueue({ QueueName });
      const { Attributes } = await t.sqs.getQueueAttributes({ QueueUrl, AttributeNames: ["QueueArn"] });
      assert.equal(Attributes.QueueArn, `arn:aws:sqs:eu-west-1:${ACCOUNT}:${QueueName}`);
      assert.equal((await t.queue().then((queue) => queue.attributes("QueueArn"))).QueueArn.split(":")[3], REGION);
      abroad.destroy();
    });
  });

  describe("creating", TOGETHER, () => {
    it("answers the same URL when it exists with the attributes given", async () => {
      const QueueName = unique();
      const create = (Attributes) => t.sqs.createQueue({ QueueName, Attributes });
      const { QueueUrl } = await create({ VisibilityTimeout: "7", DelaySeconds: "3" });

      for (const same of [undefined, {}, { VisibilityTimeout: "7" }, { DelaySeconds: "3", VisibilityTimeout: "7" }])
        assert.equal((await create(same)).QueueUrl, QueueUrl);
      // A default that was never given counts as well.
      assert.equal((await create({ MaximumMessageSize: "1048576" })).QueueUrl, QueueUrl);
    });

    it("refuses another value, names the attribute, and goes by the present values", async () => {
      const queue = await t.queue({ VisibilityTimeout: "7" });
      const create = (Attributes) => t.sqs.createQueue({ QueueName: queue.name, Attributes });
      await refused(create({ VisibilityTimeout: "8" }), "QueueNameExists", /VisibilityTimeout/);

      await queue.set({ VisibilityTimeout: "8" });

      assert.equal((await create({ VisibilityTimeout: "8" })).QueueUrl, queue.url);
      await refused(create({ VisibilityTimeout: "7" }), "QueueNameExists", /VisibilityTimeout/);
      assert.deepEqual(await queue.attributes("VisibilityTimeout"), { VisibilityTimeout: "8" });
    });

    it("makes one queue of many calls at once", async () => {
      const QueueName = unique();
      const urls = await Promise.all(Array.from({ length: 20 }, () => t.sqs.createQueue({ QueueName })));
      assert.equal(new Set(urls.map(({ QueueUrl }) => QueueUrl)).size, 1);
      assert.equal((await t.sqs.listQueues({ QueueNamePrefix: QueueName })).QueueUrls.length, 1);
    });

    it("leaves nothing behind when it refuses", async () => {
      const QueueName = unique();
      await refused(t.sqs.createQueue({ QueueName, Attributes: { VisibilityTimeout: "-1" } }), "InvalidAttributeValue");
      await refused(t.sqs.getQueueUrl({ QueueName }), "QueueDoesNotExist");
    });

    it("takes all attributes and tags at once", async () => {
      const Attributes = {
        VisibilityTimeout: "11",
        DelaySeconds: "12",
        MessageRetentionPeriod: "1300",
        MaximumMessageSize: "14000",
        ReceiveMessageWaitTimeSeconds: "15",
      };
      const queue = await t.queue(Attributes, { tags: { team: "a", empty: "" } });
      const got = await queue.attributes(...Object.keys(Attributes));
      assert.deepEqual(got, Attributes);
      const { Tags } = await t.sqs.listQueueTags({ QueueUrl: queue.url });
      assert.deepEqual(Tags, { team: "a", empty: "" });
    });
  });

  describe("listing", TOGETHER, () => {
    it("lists by prefix, in the order of names, and leaves QueueUrls out when there are none", async () => {
      const prefix = unique("list");
      for (const end of ["-c", "-a", "-b"]) await t.sqs.createQueue({ QueueName: prefix + end });

      const { QueueUrls, NextToken } = await t.sqs.listQueues({ QueueNamePrefix: prefix });

      assert.deepEqual(
        QueueUrls,
        ["-a", "-b", "-c"].map((end) => `${t.server.url}/${ACCOUNT}/${prefix}${end}`),
      );
      assert.equal(NextToken, undefined);
      assert.equal((await t.sqs.listQueues({ QueueNamePrefix: unique("none") })).QueueUrls, undefined);
      const all = (await t.sqs.listQueues({})).QueueUrls;
      assert.ok(QueueUrls.every((url) => all.includes(url)));
    });

    it("gives pages of the asked size, each queue once, and no token after the last", async () => {
      const prefix = unique("page");
      for (let i = 0; i < 5; i += 1) await t.sqs.createQueue({ QueueName: `${prefix}-${i}` });
      const sizes = [];
      const all = [];
      let NextToken;
      do {
        const page = await t.sqs.listQueues({ QueueNamePrefix: prefix, MaxResults: 2, NextToken });
        sizes.push(page.QueueUrls.length);
        all.push(...page.QueueUrls);
        ({ NextToken } = page);
      } while (NextToken !== undefined);
      assert.deepEqual(sizes, [2, 2, 1]);
      assert.deepEqual(
        all,
        Array.from({ length: 5 }, (_, i) => `${t.server.url}/${ACCOUNT}/${prefix}-${i}`),
      );

      const exact = await t.sqs.listQueues({ QueueNamePrefix: prefix, MaxResults: 5 });
      assert.equal(exact.NextToken, undefined);
    });

    it("forgets a deleted queue at once, and allows its name again", async () => {
      const queue = await t.queue();
      await queue.send("gone with it");
      await t.sqs.deleteQueue({ QueueUrl: queue.url });

      await refused(t.sqs.getQueueUrl({ QueueName: queue.name }), "QueueDoesNotExist");
      await refused(queue.send("x"), "QueueDoesNotExist");
      await refused(t.sqs.deleteQueue({ QueueUrl: queue.url }), "QueueDoesNotExist");
      assert.equal((await t.sqs.listQueues({ QueueNamePrefix: queue.name })).QueueUrls, undefined);

      await t.sqs.createQueue({ QueueName: queue.name });
      assert.deepEqual(await queue.counts(), [0, 0, 0]);
      assert.deepEqual(await queue.receive(), []);
    });
  });

  describe("tags", TOGETHER, () => {
    const tags = async ({ url }) => (await t.sqs.listQueueTags({ QueueUrl: url })).Tags;

    it("adds, overwrites and removes", async () => {
      const queue = await t.queue();
      const QueueUrl = queue.url;
      assert.equal(await tags(queue), undefined);
      await t.sqs.tagQueue({ QueueUrl, Tags: { a: "1", b: "", Key: "x", key: "y", ünïcode: "ü:/=+-@" } });
      await t.sqs.tagQueue({ QueueUrl, Tags: { a: "2" } });
      assert.deepEqual(await tags(queue), { a: "2", b: "", Key: "x", key: "y", ünïcode: "ü:/=+-@" });
      await t.sqs.untagQueue({ QueueUrl, TagKeys: ["b", "key", "unknown", "ünïcode"] });
      assert.deepEqual(await tags(queue), { a: "2", Key: "x" });
      await t.sqs.untagQueue({ QueueUrl, TagKeys: ["a", "Key"] });
      assert.equal(await tags(queue), undefined);
    });

    it("takes fifty and no more, and keeps keys and values within their lengths", async () => {
      const queue = await t.queue();
      const QueueUrl = queue.url;
      const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, `${i}`]));
      await t.sqs.tagQueue({ QueueUrl, Tags: fifty });
      await t.sqs.tagQueue({ QueueUrl, Tags: { key0: "overwritten" } });
      await refused(t.sqs.tagQueue({ QueueUrl, Tags: { more: "1" } }), "InvalidParameterValue");
      assert.deepEqual(await tags(queue), { ...fifty, key0: "overwritten" });

      const other = await t.queue();
      await t.sqs.tagQueue({ QueueUrl: other.url, Tags: { ["k".repeat(128)]: "v".repeat(256) } });
      await each(
        [
          ["long key", { ["k".repeat(129)]: "v" }],
          ["long value", { k: "v".repeat(257) }],
          ["empty key", { "": "v" }],
        ],
        (_, Tags) => refused(t.sqs.tagQueue({ QueueUrl: other.url, Tags }), "InvalidParameterValue"),
      );
    });
  });

  describe("permissions", TOGETHER, () => {
    const add = (queue, Label, AWSAccountIds, Actions) =>
      t.sqs.addPermission({ QueueUrl: queue.url, Label, AWSAccountIds, Actions });
    const policy = async (queue) => {
      const { Policy } = await queue.attributes("Policy");
      return Policy && JSON.parse(Policy);
    };

    it("writes a policy statement for each label, with lists where there are several", async () => {
      const queue = await t.queue();
      await add(queue, "one", ["111111111111"], ["SendMessage"]);
      await add(queue, "two", ["111111111111", "222222222222"], ["ReceiveMessage", "DeleteMessage"]);
      assert.deepEqual(await policy(queue), {
        Version: "2008-10-17",
        Id: `${queue.arn}/SQSDefaultPolicy`,
        Statement: [
          {
            Sid: "one",
            Effect: "Allow",
            Principal: { AWS: "arn:aws:iam::111111111111:root" },
            Action: "SQS:SendMessage",
            Resource: queue.arn,
          },
          {
            Sid: "two",
            Effect: "Allow",
            Principal: { AWS: ["arn:aws:iam::111111111111:root", "arn:aws:iam::222222222222:root"] },
            Action: ["SQS:ReceiveMessage", "SQS:DeleteMessage"],
            Resource: queue.arn,
          },
        ],
      });
    });

    it("removes by label, and the policy with the last one", async () => {
      const queue = await t.queue();
      await add(queue, "one", ["111111111111"], ["*"]);
      await add(queue, "two", ["111111111111"], ["SendMessage"]);
      const remove = (Label) => t.sqs.removePermission({ QueueUrl: queue.url, Label });
      await remove("one");
      assert.deepEqual(
        (await policy(queue)).Statement.map(({ Sid }) => Sid),
        ["two"],
      );
      await refused(remove("one"), "InvalidParameterValue");
      await remove("two");
      assert.equal(await policy(queue), undefined);
    });

    it("refuses a label that is taken or malformed, and more than seven actions", async () => {
      const queue = await t.queue();
      await add(queue, "taken", ["111111111111"], ["SendMessage"]);
      await refused(add(queue, "taken", ["222222222222"], ["SendMessage"]), "InvalidParameterValue");
      for (const label of ["with blank", "x".repeat(81)])
        await refused(add(queue, label, ["111111111111"], ["SendMessage"]), "InvalidParameterValue");
      const seven = [
        "SendMessage",
        "ReceiveMessage",
        "DeleteMessage",
        "ChangeMessageVisibility",
        "GetQueueAttributes",
        "GetQueueUrl",
        "PurgeQueue",
      ];
      await add(queue, "seven", ["111111111111"], seven);
      await refused(add(queue, "eight", ["111111111111"], [...seven, "ListQueueTags"]), "OverLimit");
      await refused(add(queue, "unknown", ["111111111111"], ["Nonsense"]), "InvalidParameterValue");
    });

    it("goes with the queue", async () => {
      const queue = await t.queue();
      await add(queue, "one", ["111111111111"], ["SendMessage"]);
      await t.sqs.deleteQueue({ QueueUrl: queue.url });
      const { QueueUrl } = await t.sqs.createQueue({ QueueName: queue.name });
      assert.equal(await policy(new Queue(t, queue.name, QueueUrl)), undefined);
    });
  });
});

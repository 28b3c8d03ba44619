// Access keys: made, listed and revoked by the command line while the server runs; without --dev nothing else opens it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SNS } from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import { IN_TURN, unique, waitFor, world } from "./harness.mjs";

describe("access keys", IN_TURN, () => {
  const t = world({ dev: false });

  async function keys(...argv) {
    const { code, stdout, stderr } = await t.server.command("keys", ...argv);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  }
  async function create() {
    const {
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
      tenant,
    } = JSON.parse(await keys("create", "--json"));
    assert.ok(accessKeyId && secretAccessKey);
    assert.equal(typeof tenant, "string");
    return { accessKeyId, secretAccessKey };
  }
  async function using(credentials, call, Client = SQS) {
    const client = t.connect(Client, { credentials });
    try {
      return await call(client);
    } finally {
      client.destroy();
    }
  }
  const works = (credentials) => using(credentials, (client) => client.listQueues({}));
  const refusedAs = (credentials, name) => assert.rejects(works(credentials), { name });

  it("that are created open the server, for SQS and SNS", async () => {
    const credentials = await create();
    const QueueName = unique();
    await using(credentials, async (client) => {
      const { QueueUrl } = await client.createQueue({ QueueName });
      await client.sendMessage({ QueueUrl, MessageBody: "x" });
      const { Messages } = await client.receiveMessage({ QueueUrl, MessageSystemAttributeNames: ["SenderId"] });
      assert.equal(Messages[0].Attributes.SenderId, credentials.accessKeyId);
    });
    await using(credentials, (client) => client.listTopics({}), SNS);
  });

  it("are printed for people, too", async () => {
    const out = await keys("create");
    const [, accessKeyId] = /^access_key_id=(\S+)$/m.exec(out);
    const [, secretAccessKey] = /^secret_access_key=(\S+)$/m.exec(out);
    await works({ accessKeyId, secretAccessKey });
  });

  it("of one tenant see the same queues", async () => {
    const [one, other] = [await create(), await create()];
    const QueueName = unique();
    const { QueueUrl } = await using(one, (client) => client.createQueue({ QueueName }));
    assert.equal((await using(other, (client) => client.getQueueUrl({ QueueName }))).QueueUrl, QueueUrl);
  });

  it("of the development mode are unknown here, and secrets are checked", async () => {
    const { accessKeyId, secretAccessKey } = await create();
    await refusedAs({ accessKeyId: "test", secretAccessKey: "test" }, "InvalidClientTokenId");
    await refusedAs({ accessKeyId, secretAccessKey: "wrong" }, "SignatureDoesNotMatch");
    await refusedAs({ accessKeyId: `${accessKeyId}X`, secretAccessKey }, "InvalidClientTokenId");
  });

  it("are listed without their secrets", async () => {
    const { accessKeyId, secretAccessKey } = await create();
    const out = await keys("list");
    assert.ok(out.includes(accessKeyId), out);
    assert.ok(!out.includes(secretAccessKey));
  });

  it("that are revoked are unknown from then on, and the others go on", async () => {
    const [one, other] = [await create(), await create()];
    await works(one);
    await keys("revoke", one.accessKeyId);
    await waitFor(async () => {
      try {
        await works(one);
        return false;
      } catch (error) {
        assert.equal(error.name, "InvalidClientTokenId");
        return true;
      }
    }, "the key to be unknown");
    await works(other);
    assert.ok(!(await keys("list")).includes(one.accessKeyId));
    const again = await t.server.command("keys", "revoke", one.accessKeyId);
    assert.notEqual(again.code, 0);
  });

  it("survive a crash, and so does their end", async () => {
    const [kept, revoked] = [await create(), await create()];
    await keys("revoke", revoked.accessKeyId);
    await t.server.restart();
    await works(kept);
    await refusedAs(revoked, "InvalidClientTokenId");
  });
});

describe("the key of the development mode", IN_TURN, () => {
  const t = world();

  it("works beside others", async () => {
    await t.sqs.listQueues({});
    const { code, stdout } = await t.server.command("keys", "create", "--json");
    assert.equal(code, 0);
    const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = JSON.parse(stdout);
    const client = t.connect(SQS, { credentials: { accessKeyId, secretAccessKey } });
    await client.listQueues({});
    client.destroy();
  });
});

describe("an access key of the settings", IN_TURN, () => {
  const credentials = { accessKeyId: "HKOFTHECOMPOSEFILE1", secretAccessKey: "secret-of-the-compose-file/0123456789+abc" };
  const t = world({
    dev: false,
    flags: ["--aws-access-key-id", credentials.accessKeyId, "--aws-secret-access-key", credentials.secretAccessKey],
  });

  it("opens the server at its first start, for SQS and SNS", async () => {
    for (const [Client, call] of [
      [SQS, (client) => client.createQueue({ QueueName: unique() })],
      [SNS, (client) => client.listTopics({})],
    ]) {
      const client = t.connect(Client, { credentials });
      await call(client).finally(() => client.destroy());
    }
    const { stdout } = await t.server.command("keys", "list");
    assert.equal(stdout, `${credentials.accessKeyId}  from configuration\n`);
  });

  it("is not revoked by a command", async () => {
    const { code, stderr } = await t.server.command("keys", "revoke", credentials.accessKeyId);
    assert.equal(code, 1);
    assert.match(stderr, /aws_access_key_id/);
  });
});

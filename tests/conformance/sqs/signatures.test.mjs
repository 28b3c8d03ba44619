// Signature Version 4: what is accepted, what is refused, and that what is refused does nothing.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { SQS } from "@aws-sdk/client-sqs";
import { exchange } from "../lib/server.mjs";
import { ACCOUNT, CREDENTIALS, each, REGION, sha256, TOGETHER, world } from "./harness.mjs";
import { presigned, signature, signedHeaders } from "./sigv4.mjs";
import { parseXml, plain } from "./xml.mjs";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ago = (ms) => new Date(Date.now() - ms);
const WRONG = { code: /^(SignatureDoesNotMatch|InvalidSignatureException)$/, status: 403 };
const SKEWED = { code: /^(SignatureDoesNotMatch|RequestExpired|RequestTimeTooSkewed)$/, status: 403 };
const INCOMPLETE = { code: /^IncompleteSignature$/, status: 400 };
const UNKNOWN = { code: /^InvalidClientTokenId$/, status: 403 };
const ABSENT = { code: /^(MissingAuthenticationToken|AccessDenied)$/, status: 403 };
const UNSAFE = { code: /^InvalidSecurity$/, status: 403 };
const SOMEHOW = { code: /^(SignatureDoesNotMatch|IncompleteSignature|InvalidClientTokenId|AccessDenied)$/ };

describe("signatures", TOGETHER, () => {
  const t = world();
  const host = () => `127.0.0.1:${t.server.port}`;

  describe("our own implementation", TOGETHER, () => {
    const known = {
      date: new Date("2026-01-02T03:04:05Z"),
      region: "us-east-1",
      service: "sqs",
      secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    };

    it("signs a known request as others do", () => {
      const it = signature({
        ...known,
        method: "POST",
        target: "/",
        body: "{}",
        headers: {
          "content-type": "application/x-amz-json-1.0",
          host: "127.0.0.1:8080",
          "x-amz-date": "20260102T030405Z",
          "x-amz-target": "AmazonSQS.ListQueues",
        },
      });
      assert.deepEqual(
        [it.key, it.canonicalHash, it.signature],
        [
          "2ff297a9677e4dae14c807deddfda42a648728a19457402a48e239ed0efff414",
          "7e8ecd2041a20c04f3dd443f5ae7add93c7e6f6735b39036d2a26412249a249e",
          "c71925018dea8de6ab3c62a7227b2ff8e4e217615827d61f6a48041c3d542064",
        ],
      );
    });

    it("presigns a known request as others do", () => {
      const target = presigned({
        ...known,
        path: "/000000000000/q",
        fields: { Action: "ReceiveMessage", Version: "2012-11-05", "MessageAttributeName.1": "a.*" },
        host: "127.0.0.1:8080",
        credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: known.secret },
      });
      const expected = "2fd13f8da8e085cbae372d1f25c7b1659d37d104b4e4a21ef469ebb143eef7ad";
      assert.equal(new URLSearchParams(target).get("X-Amz-Signature"), expected);
    });
  });

  /** A SendMessage to the queue in each protocol: {method, target, headers, body} to be signed. */
  const requests = ({ url, name }) => ({
    JSON: {
      method: "POST",
      target: "/",
      headers: { Host: host(), "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AmazonSQS.SendMessage" },
      body: JSON.stringify({ QueueUrl: url, MessageBody: "x" }),
    },
    Query: {
      method: "POST",
      target: `/${ACCOUNT}/${name}`,
      headers: { Host: host(), "Content-Type": "application/x-www-form-urlencoded" },
      body: "Action=SendMessage&MessageBody=x",
    },
  });
  const exchangeIt = ({ method, target, body }, headers) => exchange(t.server.port, method, target, { headers, body });

  function failure(answer) {
    if (answer.status === 200) return undefined;
    if (!answer.text.startsWith("{"))
      return { code: plain(parseXml(answer.text)).Error[0].Code[0], status: answer.status };
    const [code, fault] = (answer.headers["x-amzn-query-error"] ?? "").split(";");
    assert.equal(fault, "Sender", answer.headers["x-amzn-query-error"]);
    assert.match(answer.json().__type, /^com\.amazon(\.coral\.service|aws\.sqs)#/);
    return { code, status: answer.status };
  }

  function assertRefused(answer, { code, status }) {
    const got = failure(answer);
    assert.ok(got, `was not refused: ${answer.text.slice(0, 100)}`);
    assert.match(got.code, code);
    if (status) assert.equal(got.status, status);
    else assert.ok([400, 403].includes(got.status), `${got.status}`);
  }

  it("accepts every honest way of signing, in both protocols", async () => {
    const queue = await t.queue();
    const rows = Object.entries(requests(queue)).flatMap(([protocol, request]) => {
      const signed = (more = {}) => signedHeaders({ ...request, ...more });
      const { Host, ...others } = request.headers;
      const target = request.headers["X-Amz-Target"];
      const least = target ? { Host, "X-Amz-Target": target } : { Host };
      return [
        [`${protocol}: all headers`, signed()],
        [`${protocol}: as little as may be`, { ...others, ...signed({ headers: least }) }],
        [
          `${protocol}: the hash of the body`,
          signed({ headers: { ...request.headers, "X-Amz-Content-Sha256": sha256(request.body) } }),
        ],
        [
          `${protocol}: its length`,
          signed({ headers: { ...request.headers, "Content-Length": Buffer.byteLength(request.body) } }),
        ],
        [`${protocol}: blanks in a value`, signed({ headers: { ...request.headers, "X-Odd": "  a   b  " } })],
        [`${protocol}: another region`, signed({ region: "mars-north-7" })],
        [`${protocol}: a slow clock`, signed({ date: ago(14 * MINUTE) })],
        [`${protocol}: a fast clock`, signed({ date: ago(-14 * MINUTE) })],
        [
          `${protocol}: parts without blanks`,
          { ...signed(), Authorization: signed().Authorization.replaceAll(", ", ",") },
        ],
      ].map(([name, headers]) => [name, request, headers]);
    });
    await each(rows, async (_, request, headers) => {
      const answer = await exchangeIt(request, headers);
      assert.equal(answer.status, 200, answer.text);
    });
    assert.deepEqual(await queue.counts(), [rows.length, 0, 0]);
  });

  it("accepts odd paths and queries", async () => {
    const queue = await t.queue();
    const { JSON: json } = requests(queue);
    const targets = ["/a%20b/c%2Fd", "/x//y/", "/~a-b_c.d", "/?b=2&a=1&a=0&A=%2A+%7e&empty&e=", "/%C3%BC?x=%C3%BC"];
    await each(
      targets.map((target) => [target]),
      async (target) => {
        const request = { ...json, target };
        const answer = await exchangeIt(request, signedHeaders(request));
        assert.equal(answer.status, 200, answer.text);
      },
    );
  });

  it("refuses everything else, in both protocols, and does nothing", async () => {
    const queue = await t.queue();
    const rows = Object.entries(requests(queue)).flatMap(([protocol, request]) => {
      const signed = (more = {}) => signedHeaders({ ...request, ...more });
      const edited = (from, to, more) => {
        const headers = signed(more);
        return { ...headers, Authorization: headers.Authorization.replace(from, to) };
      };
      const { Host, ...others } = request.headers;
      const { Authorization, ...unsigned } = signed();
      const { "x-amz-date": date, ...undated } = signed();
      assert.ok(Authorization && Host && date);
      const credentials = (accessKeyId, secretAccessKey) => ({ credentials: { accessKeyId, secretAccessKey } });
      const tampered = { ...request, body: request.body.replace("x", "y") };
      return [
        ["a wrong secret", request, signed(credentials("test", "wrong")), WRONG],
        ["an empty secret", request, signed(credentials("test", "")), WRONG],
        ["an unknown key", request, signed(credentials("AKIDUNKNOWN", "test")), UNKNOWN],
        ["a slow clock", request, signed({ date: ago(16 * MINUTE) }), SKEWED],
        ["a fast clock", request, signed({ date: ago(-16 * MINUTE) }), SKEWED],
        ["a request of yesterday", request, signed({ date: ago(DAY) }), SKEWED],
        ["another body", { ...tampered, body: `${tampered.body} ` }, signed(), WRONG],
        ["another header", request, { ...signed({ headers: { ...request.headers, "X-A": "1" } }), "X-A": "2" }, WRONG],
        ["another path", { ...request, target: `${request.target}x` }, signed(), WRONG],
        ["one more parameter", { ...request, target: `${request.target}?a=b` }, signed(), WRONG],
        ["another digit", request, edited(/.$/, (c) => (c === "0" ? "1" : "0")), WRONG],
        ["half a signature", request, edited(/.{32}$/, ""), SOMEHOW],
        ["another region in the scope", request, edited(`/${REGION}/`, "/eu-west-1/"), WRONG],
        ["another service", request, signed({ service: "s3" }), SOMEHOW],
        ["another end of the scope", request, edited("aws4_request", "aws5_request"), SOMEHOW],
        ["another day in the scope", request, edited(/\/\d{8}\//, "/20200101/"), SOMEHOW],
        ["an unsigned host", request, { Host, ...signed({ headers: others }) }, SOMEHOW],
        [
          "a wrong hash of the body",
          request,
          signed({ headers: { ...request.headers, "X-Amz-Content-Sha256": sha256("") }, payloadHash: sha256("") }),
          SOMEHOW,
        ],
        [
          "an unsigned body without TLS",
          request,
          signed({
            headers: { ...request.headers, "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD" },
            payloadHash: "UNSIGNED-PAYLOAD",
          }),
          UNSAFE,
        ],
        ["no signature at all", request, unsigned, ABSENT],
        ["no date", request, undated, INCOMPLETE],
        ["no credential", request, edited(/Credential=[^,]*, /, ""), INCOMPLETE],
        ["no list of headers", request, edited(/SignedHeaders=[^,]*, /, ""), INCOMPLETE],
        ["no value", request, edited(/, Signature=.*$/, ""), INCOMPLETE],
        ["a credential without a scope", request, edited(/Credential=[^,]*/, "Credential=test"), INCOMPLETE],
      ].map(([name, ...rest]) => [`${protocol}: ${name}`, ...rest]);
    });
    await each(rows, async (_, request, headers, expected) =>
      assertRefused(await exchangeIt(request, headers), expected),
    );
    assert.deepEqual(await queue.counts(), [0, 0, 0]);
  });

  it("takes a presigned request as long as it is good, for the method it was made for", async () => {
    const queue = await t.queue();
    const fields = { Action: "SendMessage", Version: "2012-11-05", MessageBody: "x" };
    const make = (more) => presigned({ path: `/${ACCOUNT}/${queue.name}`, fields, host: host(), ...more });
    const go = (target, method = "GET") => exchange(t.server.port, method, target);
    const good = [
      ["at once", make()],
      ["a while ago", make({ date: ago(59 * MINUTE), expires: 3600 })],
      ["for a week", make({ date: ago(6 * DAY), expires: 604_800 })],
      ["by POST", make({ method: "POST" }), "POST"],
    ];
    await each(good, async (_, target, method) => assert.equal((await go(target, method)).status, 200));
    assert.deepEqual(await queue.counts(), [good.length, 0, 0]);
    await each(
      [
        ["expired", make({ date: ago(2 * MINUTE), expires: 60 }), SKEWED],
        ["of the future", make({ date: ago(-16 * MINUTE) }), SKEWED],
        ["good for too long", make({ expires: 604_801 }), { code: /./ }],
        ["good for no time", make({ expires: 0, date: ago(2000) }), { code: /./ }],
        ["of a wrong secret", make({ credentials: { ...CREDENTIALS, secretAccessKey: "wrong" } }), WRONG],
        ["of an unknown key", make({ credentials: { ...CREDENTIALS, accessKeyId: "AKIDUNKNOWN" } }), UNKNOWN],
        ["with another body", make().replace("MessageBody=x", "MessageBody=y"), WRONG],
        ["with a longer life", make().replace("X-Amz-Expires=60", "X-Amz-Expires=61"), WRONG],
        ["without a part", make().replace(/&X-Amz-Credential=[^&]*/, ""), INCOMPLETE],
      ],
      async (_, target, expected) => assertRefused(await go(target), expected),
    );
    assertRefused(await go(make({ method: "POST" }), "GET"), WRONG);
    assert.deepEqual(await queue.counts(), [good.length, 0, 0]);
  });

  describe("the client", TOGETHER, () => {
    it("learns the time from the server when its clock is wrong", async () => {
      const queue = await t.queue();
      // A process of its own, because the clock is that of the whole process.
      const program = `
        import { SQS } from "@aws-sdk/client-sqs";
        const Real = Date;
        globalThis.Date = class extends Real {
          constructor(...parts) { parts.length > 0 ? super(...parts) : super(Date.now()); }
          static now() { return Real.now() - ${120 * MINUTE}; }
        };
        const [endpoint, QueueUrl] = process.argv.slice(1);
        const credentials = { accessKeyId: "test", secretAccessKey: "test" };
        const client = new SQS({ endpoint, region: "us-east-1", credentials });
        await client.sendMessage({ QueueUrl, MessageBody: "late" });`;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program, t.server.url, queue.url], {
        cwd: path.dirname(fileURLToPath(import.meta.url)),
        stdio: ["ignore", "ignore", "pipe"],
      });
      let problem = "";
      child.stderr.on("data", (chunk) => (problem += chunk));
      const code = await new Promise((resolve) => child.on("close", resolve));
      assert.equal(code, 0, problem);
      assert.equal((await queue.take()).Body, "late");
    });

    it("says what is wrong with its credentials", async () => {
      for (const [accessKeyId, secretAccessKey, name] of [
        ["test", "wrong", "SignatureDoesNotMatch"],
        ["AKIDUNKNOWN", "test", "InvalidClientTokenId"],
      ]) {
        const client = t.connect(SQS, { credentials: { accessKeyId, secretAccessKey } });
        await assert.rejects(client.listQueues({}), { name });
        client.destroy();
      }
    });
  });
});

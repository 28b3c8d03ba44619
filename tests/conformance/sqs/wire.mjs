// Requests as they are on the wire, in both protocols, signed by our own implementation.
import assert from "node:assert/strict";
import { exchange } from "../lib/server.mjs";
import { form, signedHeaders } from "./sigv4.mjs";
import { parseXml, plain } from "./xml.mjs";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAMESPACES = {
  sqs: "http://queue.amazonaws.com/doc/2012-11-05/",
  sns: "http://sns.amazonaws.com/doc/2010-03-31/",
};
const VERSIONS = { sqs: "2012-11-05", sns: "2010-03-31" };

/** Sends it signed. `headers` are signed, `unsigned` are not; `tampered` replaces the body after signing; the other options
 *  are those of signedHeaders. */
export function send(
  port,
  { method = "POST", target = "/", headers = {}, unsigned = {}, body = "", tampered, ...signing },
) {
  const fields = signedHeaders({
    method,
    target,
    headers: { Host: `127.0.0.1:${port}`, ...headers },
    body,
    ...signing,
  });
  return exchange(port, method, target, { headers: { ...fields, ...unsigned }, body: tampered ?? (body || undefined) });
}

/** A call in the JSON protocol; `input` may be a text that is not JSON. */
export async function callJson(port, action, input = {}, options = {}) {
  const answer = await send(port, {
    body: typeof input === "string" ? input : JSON.stringify(input),
    ...options,
    headers: {
      "Content-Type": "application/x-amz-json-1.0",
      "X-Amz-Target": `AmazonSQS.${action}`,
      ...options.headers,
    },
  });
  assert.match(answer.headers["x-amzn-requestid"] ?? "", UUID, "x-amzn-RequestId");
  assert.equal(answer.headers["content-type"], "application/x-amz-json-1.0");
  return answer;
}

/** What a JSON answer refuses with: its type, code with fault, and status; undefined for a success. */
export function jsonError(answer) {
  if (answer.status === 200) return undefined;
  const { __type: type, message } = answer.json();
  assert.equal(typeof message, "string", `an error without a text: ${answer.text}`);
  return { type, code: answer.headers["x-amzn-query-error"], status: answer.status };
}

const NUMBERED = {
  AttributeNames: "AttributeName",
  MessageSystemAttributeNames: "MessageSystemAttributeName",
  MessageAttributeNames: "MessageAttributeName",
  TagKeys: "TagKey",
  AWSAccountIds: "AWSAccountId",
  Actions: "ActionName",
};
const MAPPED = {
  Attributes: ["Attribute", "Name"],
  Tags: ["Tag", "Key"],
  tags: ["Tag", "Key"],
  MessageAttributes: ["MessageAttribute", "Name"],
  MessageSystemAttributes: ["MessageSystemAttribute", "Name"],
};

/** The Query fields of a JSON input: lists and maps flattened and numbered from 1. */
export function flatten(action, input, prefix = "") {
  const fields = {};
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (name in NUMBERED) {
      value.forEach((one, i) => (fields[`${prefix}${NUMBERED[name]}.${i + 1}`] = one));
    } else if (name in MAPPED) {
      const [list, key] = MAPPED[name];
      Object.entries(value).forEach(([k, v], i) => {
        const at = `${prefix}${list}.${i + 1}`;
        fields[`${at}.${key}`] = k;
        if (typeof v !== "object") fields[`${at}.Value`] = v;
        else for (const [part, content] of Object.entries(v)) fields[`${at}.Value.${part}`] = content;
      });
    } else if (name === "Entries") {
      if (value.length === 0) fields[`${action}RequestEntry`] = "";
      value.forEach((one, i) => Object.assign(fields, flatten(action, one, `${action}RequestEntry.${i + 1}.`)));
    } else {
      fields[prefix + name] = value;
    }
  }
  return fields;
}

/** A call in the Query protocol with these fields. The answer's `result` is the content of its XResult, undefined when there
 *  is no such element; `error` is {code, status} of a refusal. */
export async function callQuery(port, action, fields = {}, { service = "sqs", version = true, ...options } = {}) {
  const body = form({ Action: action, ...(version && { Version: VERSIONS[service] }), ...fields });
  const inQuery = options.method === "GET";
  const answer = await send(port, {
    service,
    ...options,
    target: (options.target ?? "/") + (inQuery ? `?${body}` : ""),
    ...(!inQuery && { body }),
    headers: {
      ...(!inQuery && { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" }),
      ...options.headers,
    },
  });
  return readQuery(answer, action, service);
}

/** Checks everything about an XML answer that does not depend on the action. */
export function readQuery(answer, action, service = "sqs") {
  assert.match(answer.headers["content-type"] ?? "", /^text\/xml/);
  assert.match(answer.headers["x-amzn-requestid"] ?? "", UUID, "x-amzn-RequestId");
  const root = parseXml(answer.text);
  assert.equal(root.xmlns, NAMESPACES[service], answer.text.slice(0, 200));
  const content = plain(root);
  if (answer.status !== 200) {
    assert.equal(root.name, "ErrorResponse", answer.text);
    assert.match(content.RequestId[0], UUID);
    const [error] = content.Error;
    assert.equal(error.Type[0], answer.status < 500 ? "Sender" : "Receiver");
    assert.notEqual(error.Message?.[0] ?? "", "", "an error without a text");
    return { ...answer, root, error: { code: error.Code[0], status: answer.status }, message: error.Message[0] };
  }
  assert.equal(root.name, `${action}Response`);
  const elements = root.children.map(({ name }) => name);
  const hasResult = elements.includes(`${action}Result`);
  assert.deepEqual(elements, hasResult ? [`${action}Result`, "ResponseMetadata"] : ["ResponseMetadata"]);
  assert.match(content.ResponseMetadata[0].RequestId[0], UUID);
  return { ...answer, root, result: hasResult ? content[`${action}Result`][0] : undefined };
}

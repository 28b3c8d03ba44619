// Signature Version 4, written from its description and on nothing but Node's crypto: what the official clients sign and what
// the server verifies are judged by a third opinion.
import { createHash, createHmac } from "node:crypto";

export const REGION = "us-east-1";
export const CREDENTIALS = { accessKeyId: "test", secretAccessKey: "test" }; // of --dev: public by design

const hex = (data) => createHash("sha256").update(data).digest("hex");
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();

/** Percent-encodes everything but A-Za-z0-9-._~ */
export const encode = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** 20260102T030405Z */
export const stamp = (date) => date.toISOString().replace(/[-:]|\.\d+/g, "");

/** A form or a query string of these fields. */
export const form = (fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
    .join("&");

function canonicalQuery(query) {
  const decode = (text) => decodeURIComponent(text.replaceAll("+", " "));
  const pairs = query.split("&").filter(Boolean);
  const encoded = pairs.map((pair) => {
    const [name, ...value] = pair.split("=");
    return [encode(decode(name)), encode(decode(value.join("=")))];
  });
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return encoded
    .sort(([a, x], [b, y]) => order(a, b) || order(x, y))
    .map((pair) => pair.join("="))
    .join("&");
}

/** The hash of the canonical request, and the signature. `headers`: those to be signed, with lower-case names. */
export function signature({ method, target, headers, body = "", payloadHash, date, region, service, secret }) {
  const [path, query = ""] = target.split(/\?(.*)/s);
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}\n`);
  const canonical = [
    method,
    path.split("/").map(encode).join("/") || "/",
    canonicalQuery(query),
    lines.join(""),
    names.join(";"),
    payloadHash ?? hex(body),
  ].join("\n");
  const day = stamp(date).slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [region, service, "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, day));
  const text = ["AWS4-HMAC-SHA256", stamp(date), scope, hex(canonical)].join("\n");
  return {
    canonicalHash: hex(canonical),
    key: key.toString("hex"),
    signature: hmac(key, text).toString("hex"),
    signedHeaders: names.join(";"),
    scope,
  };
}

/** The headers of a signed request: those given and all that signing adds. */
export function signedHeaders({
  method = "POST",
  target = "/",
  headers = {},
  body = "",
  date = new Date(),
  region = REGION,
  service = "sqs",
  credentials = CREDENTIALS,
  payloadHash,
}) {
  const all = { ...headers, "x-amz-date": stamp(date) };
  const lower = Object.fromEntries(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]));
  const secret = credentials.secretAccessKey;
  const it = signature({ method, target, headers: lower, body, payloadHash, date, region, service, secret });
  const scope = `${credentials.accessKeyId}/${it.scope}`;
  all.Authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${it.signedHeaders}, Signature=${it.signature}`;
  return all;
}

/** The target of a presigned request. */
export function presigned({
  method = "GET",
  path = "/",
  fields = {},
  host,
  expires = 60,
  date = new Date(),
  region = REGION,
  service = "sqs",
  credentials = CREDENTIALS,
}) {
  const all = {
    ...fields,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${credentials.accessKeyId}/${stamp(date).slice(0, 8)}/${region}/${service}/aws4_request`,
    "X-Amz-Date": stamp(date),
    "X-Amz-Expires": expires,
    "X-Amz-SignedHeaders": "host",
  };
  const target = `${path}?${form(all)}`;
  const secret = credentials.secretAccessKey;
  const it = signature({ method, target, headers: { host }, date, region, service, secret });
  return `${target}&X-Amz-Signature=${it.signature}`;
}

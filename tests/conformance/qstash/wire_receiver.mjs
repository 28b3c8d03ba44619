// The destination of wire.sh: writes the n-th request to /NAME into DIRECTORY/NAME.n.head and .body, and answers 200, or the
// status that NAME ends with ("refuse-500"). Prints its port and a second free one.
import { renameSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";

import { freePort } from "../lib/server.mjs";

const directory = process.argv[2];
const counts = new Map();

const server = http.createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const name = new URL(request.url, "http://x").pathname.slice(1).replaceAll("/", "_");
  const number = (counts.get(name) ?? 0) + 1;
  counts.set(name, number);
  const lines = [`${request.method} ${request.url}`];
  for (let i = 0; i < request.rawHeaders.length; i += 2)
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  const file = path.join(directory, `${name}.${number}`);
  writeFileSync(`${file}.body`, Buffer.concat(chunks));
  writeFileSync(`${file}.part`, `${lines.join("\n")}\n`);
  renameSync(`${file}.part`, `${file}.head`);
  response.writeHead(Number(/-(\d{3})$/.exec(name)?.[1] ?? 200)).end();
});
const port = await freePort();
// A connection ends when the server ends it: one that ends while it is being reused would fail an attempt.
Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
server.listen(0, "127.0.0.1", () => console.log(`${server.address().port} ${port}`));

// QSTASH_DEV=true: the client looks for a development server with well-known credentials. It must find ours and never
// think of downloading another.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, Receiver as Verifier, startDevServer } from "@upstash/qstash";
import { DEV_KEYS, DEV_TOKEN, world } from "./harness.mjs";

/** The client asks once and for two seconds whether there is a server: on a slow machine that may need another try. */
async function patient(call) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

describe("development mode", () => {
  const t = world();

  it("finds the credentials that it expects", async () => {
    const answer = await t.raw("GET", "/v2/keys", { token: DEV_TOKEN });

    // Everything below would otherwise make the client fetch a server from the network.
    assert.deepEqual(answer.json(), DEV_KEYS);
  });

  it("uses this server with nothing but devMode and a port", async () => {
    const hook = t.hook();
    process.env.QSTASH_DEV_PORT = `${t.server.port}`;
    const said = [];
    const { log } = console;
    console.log = (...parts) => said.push(parts.join(" "));
    try {
      await patient(startDevServer);
      const { messageId } = await new Client({ devMode: true }).publishJSON({ url: hook.url, body: { dev: 1 } });
      const request = await hook.one();
      assert.equal(request.headers["upstash-message-id"], messageId);
      assert.equal(
        await new Verifier({ devMode: true }).verify({
          signature: request.headers["upstash-signature"],
          body: request.text,
          url: hook.url,
        }),
        true,
      );
    } finally {
      console.log = log;
    }
    assert.ok(
      said.some((line) => line.includes(`already running at ${t.server.url}`)),
      said.join("\n"),
    );
  });

  it("works for a program that only sets QSTASH_DEV", async () => {
    const hook = t.hook();
    const program = `
      import { Client } from "@upstash/qstash";
      const client = new Client();
      const { messageId } = await client.publishJSON({ url: process.argv[1], body: { from: "a program" } });
      console.log(JSON.stringify(await client.messages.get(messageId)));`;
    const out = await patient(async () => {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program, hook.url], {
        cwd: path.dirname(fileURLToPath(import.meta.url)),
        env: { ...process.env, QSTASH_DEV: "true", QSTASH_DEV_PORT: `${t.server.port}` },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [said, err] = ["", ""];
      child.stdout.on("data", (chunk) => (said += chunk));
      child.stderr.on("data", (chunk) => (err += chunk));
      const code = await new Promise((resolve) => child.on("close", resolve));
      assert.equal(code, 0, err);
      return said;
    });

    assert.match(out, /already running/);
    assert.equal(JSON.parse(out.trim().split("\n").at(-1)).url, hook.url);
    assert.equal((await hook.one()).text, '{"from":"a program"}');
  });

  it("reaches destinations on this machine by address and by name", async () => {
    const [address, name] = [t.hook(), t.hook()];

    await t.client.publish({ url: address.url, body: "x" });
    await t.client.publish({ url: name.url.replace("127.0.0.1", "localhost"), body: "x" });

    await address.one();
    const request = await name.one();
    await t.verified(request, DEV_KEYS, name.url.replace("127.0.0.1", "localhost"));
  });
});

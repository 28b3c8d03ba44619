// The binary, started with `serve` on a free port and a data directory of its own.
import { spawn } from "node:child_process";
import dgram from "node:dgram";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";

// Deadlines are generous: a slow machine must not fail a test, only a missing event may.
export const PATIENCE_MS = Number(process.env.HIKYAKU_E2E_PATIENCE ?? "60") * 1000;

/** The first true value that `condition` gives; an error that shows `what` when none comes in time. */
export async function waitFor(condition, what, patience = PATIENCE_MS) {
  const deadline = Date.now() + patience;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline)
      throw new Error(`waited in vain for ${typeof what === "function" ? await what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

let nextPort = process.pid * 29; // processes that run side by side look at different ones first

/** Below the ports that the system gives to outgoing connections: none of those takes it before the server has it. No other
 *  process of the tests does, either, also while the server is down: until we end, the UDP port of the same number, for which
 *  there is no other use, says that it is ours (tests/e2e/harness.py does the same). */
export async function freePort() {
  for (let tries = 0; tries < 1000; ++tries) {
    const port = 15000 + (nextPort++ % 17000);
    const mark = dgram.createSocket("udp4").unref();
    const probe = net.createServer();
    const free = await new Promise((resolve) => {
      for (const one of [mark, probe]) one.once("error", () => resolve(false));
      mark.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
        probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
      });
    });
    if (free) return port;
    mark.close();
  }
  throw new Error("no free port");
}

/** One exchange. The target goes out as it is: destinations stand in it unencoded. */
export function exchange(port, method, target, { body, headers = {}, token = null } = {}) {
  return new Promise((resolve, reject) => {
    const fields = { ...headers };
    if (token !== null) fields.Authorization = `Bearer ${token}`;
    if (body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body)) body = JSON.stringify(body);
    if (body !== undefined || method !== "GET") fields["Content-Length"] = Buffer.byteLength(body ?? "");
    const request = http.request(
      { host: "127.0.0.1", port, method, path: target, headers: fields, agent: false },
      (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode, headers: answer.headers, text, json: () => JSON.parse(text) });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

/** What the binary inherits: no settings of ours. */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HIKYAKU_")));
}

export class Server {
  constructor(flags, dev, token = null) {
    this.flags = flags;
    this.dev = dev;
    this.token = token;
    this.starts = 0;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start() {
    if (!process.env.HIKYAKU_BINARY) throw new Error("HIKYAKU_BINARY is not set: use run.mjs");
    this.home ??= await mkdtemp(path.join(os.tmpdir(), "hikyaku-conformance-"));
    this.port ??= await freePort();
    this.starts += 1;
    const log = openSync(path.join(this.home, "log"), "a");
    const dev = this.dev ? ["--dev"] : [];
    const argv = [
      "serve",
      ...dev,
      "--data",
      path.join(this.home, "data"),
      "--listen",
      `127.0.0.1:${this.port}`,
      ...this.flags,
    ];
    this.process = spawn(process.env.HIKYAKU_BINARY, argv, {
      stdio: ["ignore", log, log],
      env: environment(),
      cwd: this.home,
    });
    closeSync(log);
    if (this.starts === 1)
      process.once("exit", () => {
        this.process.kill("SIGKILL");
        rmSync(this.home, { recursive: true, force: true });
      });
    this.ended = new Promise((resolve) => this.process.once("exit", (code, signal) => resolve(signal ?? code)));
    let ended;
    this.ended.then((how) => (ended = how));
    await waitFor(
      async () => {
        if (ended !== undefined) throw new Error(`the server ended (${ended}) before it was ready:\n${this.log()}`);
        const answer = await exchange(this.port, "GET", "/readyz").catch(() => null);
        return answer?.status === 200;
      },
      () => `the server to become ready:\n${this.log()}`,
    );
    return this;
  }

  /** Runs another command of the binary with the same data directory: its exit code and what it wrote. */
  async command(...argv) {
    const child = spawn(process.env.HIKYAKU_BINARY, [...argv, "--data", path.join(this.home, "data")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: environment(),
      cwd: this.home,
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (status, signal) => resolve(signal ?? status));
    });
    return { code, stdout, stderr };
  }

  log() {
    return readFileSync(path.join(this.home, "log"), "utf8").slice(-3000);
  }

  /** kill -9: nothing of the process survives, everything it wrote does. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  /** SIGTERM: it ends by itself. The exit code, or the signal that ended it. */
  async terminate() {
    this.process.kill("SIGTERM");
    return this.ended;
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  async close() {
    if (this.process && this.process.exitCode === null && this.process.signalCode === null) await this.kill();
    if (this.home) await rm(this.home, { recursive: true, force: true });
  }

  raw(method, target, options) {
    return exchange(this.port, method, target, { token: this.token, ...options });
  }
}

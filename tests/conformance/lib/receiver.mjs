// A destination on loopback: records each request before it answers as the hook of its path was told to.
import { once } from "node:events";
import http from "node:http";
import { waitFor } from "./server.mjs";

/** Where one test's messages go. */
class Hook {
  constructor(receiver, path) {
    this.receiver = receiver;
    this.path = path;
    this.url = receiver.url + path;
    this.requests = [];
    this.answers = [{ status: 200 }];
    this.held = [];
    this.holding = false;
    this.running = 0;
    this.runningMax = 0;
  }

  /** From now on requests wait until release(). */
  hold() {
    this.holding = true;
    return this;
  }

  /** Answers the oldest `count` requests that wait; without a count all, and holds no more. */
  release(count) {
    if (count === undefined) this.holding = false;
    for (const answer of this.held.splice(0, count ?? this.held.length)) answer();
  }

  /** The first `count` requests. */
  async wait(count = 1, patience = undefined) {
    await waitFor(
      () => this.requests.length >= count,
      () => `${count} request(s) at ${this.path}; there were ${this.requests.length}`,
      patience,
    );
    return this.requests.slice(0, count);
  }

  async one(patience = undefined) {
    return (await this.wait(1, patience))[0];
  }

  get bodies() {
    return this.requests.map((request) => request.text);
  }
}

export class Receiver {
  async start() {
    this.hooks = new Map();
    this.http = http.createServer((request, response) => this.#serve(request, response));
    // A connection ends when the server ends it: one that ends while it is being reused would fail an attempt.
    Object.assign(this.http, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
    this.http.on("clientError", (_, socket) => socket.destroy());
    this.http.listen(0, "127.0.0.1");
    await once(this.http, "listening");
    this.port = this.http.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  /** A path of its own. The n-th request gets the n-th answer (a status, or {status, headers, body, action}); the last one
   *  repeats. action: "reset" breaks the connection, "hang" never answers. */
  hook(...answers) {
    const hook = new Hook(this, `/hook${this.hooks.size + 1}`);
    if (answers.length > 0)
      hook.answers = answers.map((answer) => (typeof answer === "number" ? { status: answer } : answer));
    this.hooks.set(hook.path, hook);
    return hook;
  }

  async #serve(request, response) {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // The sender died in the middle of it: not a request.
    }
    const url = new URL(request.url, this.url);
    const hook = this.hooks.get(url.pathname);
    const body = Buffer.concat(chunks);
    if (!hook) {
      response.writeHead(200).end();
      return;
    }
    const answer = hook.answers[Math.min(hook.requests.length, hook.answers.length - 1)];
    hook.requests.push({
      method: request.method,
      target: request.url,
      url: this.url + request.url,
      headers: request.headers,
      body,
      text: body.toString(),
      at: Date.now(),
    });
    hook.running += 1;
    hook.runningMax = Math.max(hook.runningMax, hook.running);
    if (hook.holding) await new Promise((resolve) => hook.held.push(resolve));
    hook.running -= 1;
    if (answer.action === "reset") request.socket.resetAndDestroy();
    else if (answer.action !== "hang") response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  async close() {
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, "close");
  }
}

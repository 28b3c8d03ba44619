// Payments by a handler of the user's, while the server dies at every point where it touches its store: each message is one
// payment. The handler claims its key, and ends everything in one atomic request: it acknowledges the message, books the money,
// completes the key and publishes the next message. The suites bring the official client that the message comes through.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PATIENCE_MS, waitFor } from "./server.mjs";

const LEDGER = "/api/v1/ledger/-";
const FEE_PERCENT = 3;
/** As many are under way at once. */
const AT_ONCE = 4;

/** The points that a server passes while it works. */
function crashPoints() {
  const declared = readFileSync(new URL("../../../src/store/crash_points.def", import.meta.url), "utf8");
  return [...declared.matchAll(/^HK_CRASH_POINT\((\w+), run,/gm)].map(([, name]) => name);
}

const amountOf = (number) => 1000 + number;
const feeOf = (number) => Math.floor((amountOf(number) * FEE_PERCENT) / 100);

export class Payments {
  /** `raw`: calls the server; `next(number)`: the operation that publishes the next message. */
  constructor(server, raw, next) {
    Object.assign(this, { server, raw, next, sent: 0, kept: new Map() });
  }

  async post(path, body, headers = {}) {
    const answer = await this.raw("POST", path, { body, headers: { "Content-Type": "application/json", ...headers } });
    return { status: answer.status, told: answer.json() };
  }

  async open() {
    const item = (id, type) => ({ op: "account", account: { id, type } });
    const items = [item("processor", "asset"), item("merchant:1:pending", "liability"), item("revenue:fees", "revenue")];
    const { status, told } = await this.post(`${LEDGER}/batches`, { mode: "atomic", items });
    assert.equal(status, 200, JSON.stringify(told));
  }

  /** What a handler does with a message: "now" it is done, or was "before", or comes again (""). Throws when the server is gone. */
  async handle(number, job, lease) {
    const key = `payment-${number}`;
    const claim = await this.post("/api/v1/idempotency/claim", { key, lease: "1s", wait: "3s" });
    if (claim.status !== 201) return claim.told.state === "completed" ? "before" : "";
    const token = claim.told.token;
    const [amount, fee] = [amountOf(number), feeOf(number)];
    const entry = (account, side, cents) => ({ account, side, amount: `${cents}`, currency: "USD" });
    const entries = [
      entry("processor", "debit", amount),
      entry("merchant:1:pending", "credit", amount - fee),
      entry("revenue:fees", "credit", fee),
    ];
    const operations = [
      { op: "ack", job, ...lease, result: { charged: amount } },
      { op: "ledger.transaction", transaction: { id: key, entries } },
      { op: "idempotency.complete", key, token, response: { charged: amount } },
      this.next(number),
    ];
    const done = await this.post("/api/v1/transact", { operations }, { "Idempotency-Key": `${key}-${token}` });
    if (done.status === 200) this.kept.set(number, done.told);
    return done.status === 200 ? "now" : "";
  }

  /** Sends payments until `over()`. `send(number)` throws when the server is gone, and is asked to send the same again. */
  async traffic(send, over) {
    let here = true;
    const running = new Set();
    const one = async (number) => {
      const begun = Date.now();
      for (;;) {
        try {
          return await send(number);
        } catch (why) {
          if (Date.now() - begun > 2 * PATIENCE_MS) throw why;
          here = false;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    while (!over() && here) {
      const work = one(this.sent++).finally(() => running.delete(work));
      running.add(work);
      if (running.size >= AT_ONCE) await Promise.race([...running, this.server.ended]);
    }
    return running;
  }

  /** A death at each point, with payments under way; afterwards everything has come to its end. */
  async throughCrashes(send) {
    const flags = this.server.flags;
    for (const [i, point] of crashPoints().entries()) {
      await this.server.kill();
      this.server.flags = [...flags, "--crash-at", `${point}:${5 + 3 * i}`];
      await this.server.start();
      let ended = false;
      this.server.ended.then(() => (ended = true));
      const running = await this.traffic(send, () => ended);
      await waitFor(() => ended, `the server to die at ${point}`);
      assert.equal(await this.server.ended, "SIGKILL", this.server.log());
      this.server.flags = flags;
      await this.server.start();
      await Promise.all(running);
    }
    await waitFor(
      async () => (await this.completed()).length === this.sent,
      async () => `${this.sent} payments to be completed; there are ${(await this.completed()).length}`,
    );
  }

  async completed() {
    const done = [];
    for (let number = 0; number < this.sent; number += 1) {
      const { json } = await this.raw("GET", `/api/v1/idempotency?key=payment-${number}`);
      if (json().state === "completed") done.push(number);
    }
    return done;
  }

  /** Every payment is in the books exactly once, everything adds up, and what was answered is so. */
  async check() {
    const transactions = new Map();
    for (let cursor = ""; ; ) {
      const page = (await this.raw("GET", `${LEDGER}/transactions?limit=1000${cursor}`)).json();
      for (const one of page.transactions) {
        assert.ok(!transactions.has(one.id), `${one.id} is there twice`);
        transactions.set(one.id, one);
      }
      if (!page.cursor) break;
      cursor = `&cursor=${page.cursor}`;
    }
    const numbers = Array.from({ length: this.sent }, (_, number) => number);
    assert.deepEqual([...transactions.keys()].sort(), numbers.map((number) => `payment-${number}`).sort());
    for (const [number, told] of this.kept) {
      const { object } = told.results[1];
      const now = transactions.get(`payment-${number}`);
      assert.deepEqual([now.seq, now.hash], [object.seq, object.hash], `payment-${number} is not what was answered`);
    }
    const sum = (of) => numbers.reduce((total, number) => total + of(number), 0);
    const wanted = {
      processor: sum(amountOf),
      "merchant:1:pending": sum((number) => amountOf(number) - feeOf(number)),
      "revenue:fees": sum(feeOf),
    };
    for (const [account, total] of Object.entries(wanted)) {
      const { json } = await this.raw("GET", `${LEDGER}/accounts/${account}/balances?currency=USD`);
      assert.equal(json().balances[0].posted, `${total}`, account);
    }
    const { currencies } = (await this.raw("GET", `${LEDGER}/trial_balance`)).json();
    for (const { debits, credits } of currencies) assert.equal(debits, credits);
    assert.equal((await this.post(`${LEDGER}/verify`, {})).told.ok, true);
    for (const number of numbers) {
      const { json } = await this.raw("GET", `/api/v1/idempotency?key=payment-${number}`);
      assert.deepEqual([json().state, json().response], ["completed", { charged: amountOf(number) }], `payment-${number}`);
    }
  }
}

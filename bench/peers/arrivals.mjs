// What a worker or handler has seen: the same figures as those of our own receiver (floor.cpp). Asked by a line on
// stdin, "stats" or "reset", and answered by a line of JSON.
import readline from "node:readline";

const bucketNs = 100_000_000;

// CLOCK_MONOTONIC, as in every other process of the machine. Exact to a quarter of a microsecond as a number.
export const now = () => Number(process.hrtime.bigint());

export class Arrivals {
  #latencies = [];
  #buckets = [];
  #count = 0;
  #first = 0;
  #last = 0;

  constructor() {
    readline.createInterface({ input: process.stdin }).on("line", (line) => {
      console.log(JSON.stringify(this.#stats()));
      if (line === "reset") {
        this.#latencies = [];
        this.#buckets = [];
        this.#count = this.#first = this.#last = 0;
      }
    }).on("close", () => process.exit(0));
  }

  // body: begins with the stamp of wire.h, "#number@nanoseconds;".
  record(body) {
    const at = now();
    this.#first ||= at;
    this.#last = at;
    this.#count += 1;
    const bucket = Math.floor((at - this.#first) / bucketNs);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#latencies.push((at - Number(body.slice(20, 39))) / 1000);
  }

  #stats() {
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { unique_ids: this.#count, first_ns: this.#first, last_ns: this.#last, bucket_ns: bucketNs,
             buckets: Array.from(this.#buckets, (count) => count ?? 0), p50_us: at(0.5), p99_us: at(0.99) };
  }
}

export function stamped(number, sent, bytes) {
  return `#${String(number).padStart(18, "0")}@${String(sent).padStart(19, "0")};`.padEnd(bytes, ".");
}

// bullmq.mjs work PORT QUEUE CONCURRENCY | add PORT QUEUE JSON, on the Redis of that port.
// add: {clients, batch, seconds, warmup, count, rate}: callers in one process that add their next job, or jobs, when the
// last ones are stored; with a rate job i is added at start + i / rate. Prints one line of JSON.
import { Queue, Worker } from "bullmq";
import { Arrivals, now, stamped } from "./arrivals.mjs";

const [mode, port, name, argument] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: null };
const bodyBytes = 256;

if (mode === "work") {
  const arrivals = new Arrivals();
  const worker = new Worker(name, async (job) => arrivals.record(job.data.body),
                            { connection, concurrency: Number(argument), removeOnComplete: { count: 0 } });
  await worker.waitUntilReady();
  console.log("ready");
} else {
  const { clients, batch = 1, seconds, warmup = 0, count = Infinity, rate = 0 } = JSON.parse(argument);
  const queue = new Queue(name, { connection, defaultJobOptions: { removeOnComplete: true } });
  await queue.waitUntilReady();
  const start = now(), from = start + warmup * 1e9, until = from + seconds * 1e9;
  const latencies = [];
  let added = 0, stored = 0, inside = 0;
  const job = (sent) => ({ name: "job", data: { body: stamped(added++, sent, bodyBytes) } });
  const add = async (sent) => {
    const jobs = Array.from({ length: batch }, () => job(sent));
    await (batch === 1 ? queue.add(jobs[0].name, jobs[0].data) : queue.addBulk(jobs));
    const at = now();
    stored += jobs.length;
    if (at >= from && at < until) {
      inside += jobs.length;
      latencies.push((at - sent) / 1000);
    }
  };
  const client = async () => {
    for (let sent = now(); sent < until && added < count; sent = now()) {
      await add(sent);
    }
  };
  if (rate > 0) {
    // Timers of Node.js are exact to a millisecond: the latency counts from when a job is handed over.
    const pending = [];
    for (let number = 0; start + number * 1e9 / rate < until; ++number) {
      const wait = (start + number * 1e9 / rate - now()) / 1e6;
      if (wait > 0) {
        await new Promise((wake) => setTimeout(wake, wait));
      }
      pending.push(add(now()));
    }
    await Promise.all(pending);
  } else {
    await Promise.all(Array.from({ length: clients }, client));
  }
  const end = now();
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0;
  console.log(JSON.stringify({ rps: inside / seconds, ok_total: stored, from_ns: from, until_ns: until, start_ns: start,
                               whole_rate: stored / ((end - start) / 1e9), p50_us: at(0.5), p99_us: at(0.99) }));
  await queue.close();
  process.exit(0);
}

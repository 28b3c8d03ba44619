// graphile_worker.mjs fill COUNT | run URL, with the settings that its manual gives for throughput: a local queue
// and completion in batches.
import { makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { concurrency, database, payload, poster } from "./rows.mjs";

const [mode, argument] = process.argv.slice(2);
const pgPool = new pg.Pool({ ...database, max: 10 });
if (mode === "fill") {
  const utils = await makeWorkerUtils({ pgPool });
  await utils.migrate();
  const chunk = 1000;
  for (let at = 0; at < Number(argument); at += chunk) {
    await utils.addJobs(Array.from({ length: Math.min(chunk, Number(argument) - at) },
                                   (_, i) => ({ identifier: "post", payload: payload(at + i) })));
  }
  await utils.release();
  await pgPool.end();
} else {
  const post = poster(argument);
  const quiet = { error: console.error, warn() {}, info() {}, debug() {} };
  const { Logger } = await import("graphile-worker");
  await run({
    pgPool,
    logger: new Logger(() => (level, message) => quiet[level]?.(message)),
    taskList: { post: (data, helpers) => post(`job-${helpers.job.id}`, data) },
    crontab: "",
    preset: {
      worker: { concurrentJobs: concurrency, localQueue: { size: 1000 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
  });
}

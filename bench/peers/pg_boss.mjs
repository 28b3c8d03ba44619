// pg_boss.mjs fill COUNT | run URL, tuned for throughput: large batches, one after the other without a pause, each
// completed by one statement.
import { PgBoss } from "pg-boss";
import { database, payload, poster } from "./rows.mjs";

const [mode, argument] = process.argv.slice(2);
const boss = new PgBoss({ ...database, max: 10, supervise: mode === "fill", schedule: false });
boss.on("error", console.error);
await boss.start();
if (mode === "fill") {
  await boss.createQueue("post");
  const chunk = 1000;
  for (let at = 0; at < Number(argument); at += chunk) {
    await boss.insert("post", Array.from({ length: Math.min(chunk, Number(argument) - at) },
                                         (_, i) => ({ data: payload(at + i) })));
  }
  await boss.stop();
} else {
  const post = poster(argument);
  // Each job ends for itself: one that fails must not repeat the others of its batch.
  const settle = (job) => post(job.id, job.data).then(() => ({ id: job.id, status: "completed" }),
                                                      (error) => ({ id: job.id, status: "failed", output: { error: String(error) } }));
  await boss.work("post", { batchSize: 250, localConcurrency: 4, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5,
                            perJobResults: true }, (jobs) => Promise.all(jobs.map(settle)));
}

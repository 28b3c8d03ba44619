// What both peers of the outbox share: the database of PGHOST …, the payloads, and the POST of one job.
import { Pool } from "undici";

export const database = { host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER,
                          database: process.env.PGDATABASE };
export const concurrency = 64;

export function payload(number) {
  return { number, text: ".".repeat(220) };
}

export function poster(url) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  return async (key, data) => {
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: pathname,
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(data),
    });
    await body.dump();
    if (statusCode >= 300) {
      throw new Error(`answered ${statusCode}`);
    }
  };
}

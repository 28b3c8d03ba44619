// Turns the events of node:test into one line of JSON for each finished test; runner.mjs reads them.

/** The error with the places in our own files only: neither the client's nor Node's. */
function explain(error) {
  const cause = error?.cause ?? error;
  const status = cause?.status === undefined ? "" : `status ${cause.status}: `;
  const lines = String(cause?.stack ?? cause ?? "").split("\n");
  const ours = lines.filter(
    (line) => !/^\s+at /.test(line) || (line.includes(".mjs") && !/node_modules|node:/.test(line)),
  );
  return status + ours.join("\n").replaceAll(import.meta.url.replace(/lib\/reporter\.mjs$/, ""), "");
}

export default async function* reporter(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const hook = type === "test:fail" && data.details?.error?.failureType === "hookFailed";
    if (data.details?.type === "suite" && !hook) continue;
    const skipped = data.skip !== undefined || data.todo !== undefined;
    yield `${JSON.stringify({
      passed: type === "test:pass" && !skipped,
      name: hook ? `before or after ${data.name}` : data.name,
      ms: Math.round(data.details?.duration_ms ?? 0),
      why: skipped ? "skipped" : explain(data.details?.error),
    })}\n`;
  }
}

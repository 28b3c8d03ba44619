// What the run.mjs of every suite does: runs the areas of its areas.json against a binary, each file in a process of its own,
// several at once. Prints a line for each area and "N passed, N failed" at the end; the exit code is 0 only if something
// passed and nothing failed.
//
// Flags: --binary PATH; --all: the areas that are not enabled, too; --jobs N; -v: every test; AREA...: only these. With
// --endpoint URL nothing is started and the tests talk to whatever listens there (to try a suite on another server).
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const reporter = path.join(path.dirname(fileURLToPath(import.meta.url)), "reporter.mjs");

function usage(problem, areas) {
  console.error(
    `${problem}\nusage: run.mjs --binary PATH [--all] [--jobs N] [-v] [AREA...]\nareas: ${areas.map(({ area }) => area).join(" ")}`,
  );
  process.exit(2);
}

function parse(argv, areas) {
  const chosen = { binary: "build/release/hikyaku", all: false, jobs: 6, verbose: false, names: [] };
  const refuse = (problem) => usage(problem, areas);
  while (argv.length > 0) {
    const word = argv.shift();
    if (word === "--all") chosen.all = true;
    else if (word === "-v") chosen.verbose = true;
    else if (word === "--binary") chosen.binary = argv.shift() ?? refuse("--binary needs a path");
    else if (word === "--jobs") chosen.jobs = Number(argv.shift()) || refuse("--jobs needs a number");
    else if (word === "--endpoint") chosen.endpoint = argv.shift() ?? refuse("--endpoint needs a URL");
    else if (word.startsWith("-")) refuse(`unknown flag ${word}`);
    else chosen.names.push(word);
  }
  for (const name of chosen.names) if (!areas.some(({ area }) => area === name)) refuse(`no area ${name}`);
  return chosen;
}

/** What the tests inherit: nothing that would change what the client or the server does. */
function environment(binary, endpoint, hidden) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !hidden.test(name) && !/^HIKYAKU_(?!E2E_)|^NODE_(OPTIONS|ENV|TEST)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    HIKYAKU_BINARY: binary,
    ...(endpoint && { HIKYAKU_E2E_ENDPOINT: endpoint }),
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
  };
}

function command(here, [file, ...rest]) {
  if (file.endsWith(".sh")) return ["bash", [path.join(here, file), ...rest]];
  return [
    process.execPath,
    [`--test-reporter=${reporter}`, "--test-reporter-destination=stdout", path.join(here, file), ...rest],
  ];
}

async function runArea(here, { area, run }, env) {
  const [program, argv] = command(here, run);
  // Its end of the first pipe closes when we die, however that happens; the harness then ends its server.
  const child = spawn(program, argv, { env: { ...env, HIKYAKU_E2E_WATCH: "1" }, stdio: ["pipe", "pipe", "pipe"] });
  const results = [];
  const noise = [];
  const started = Date.now();
  createInterface({ input: child.stderr }).on("line", (line) => noise.push(line));
  const lines = createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith('{"passed":')) noise.push(line);
    else results.push(JSON.parse(line));
  });
  const closed = new Promise((resolve) => lines.on("close", resolve));
  const code = await new Promise((resolve) => {
    child.on("error", (error) => {
      noise.push(String(error));
      resolve(1);
    });
    child.on("close", (status, signal) => resolve(signal ?? status));
  });
  await closed;
  if (results.length === 0) results.push({ passed: false, name: "the area runs", why: "it reported no test" });
  else if (code !== 0 && results.every(({ passed }) => passed))
    results.push({ passed: false, name: "the area ends well", why: `it ended with ${code}` });
  return { area, results, noise, seconds: (Date.now() - started) / 1000 };
}

function report({ area, results, noise, seconds }, verbose) {
  const failed = results.filter(({ passed }) => !passed);
  console.log(
    `${failed.length > 0 ? "FAIL" : "ok  "} ${area.padEnd(18)} ${String(results.length - failed.length).padStart(3)} passed ${String(failed.length).padStart(3)} failed  ${seconds.toFixed(1)} s`,
  );
  if (verbose)
    for (const one of results) console.log(`       ${one.passed ? "ok  " : "FAIL"} ${one.name} (${one.ms ?? 0} ms)`);
  for (const one of failed)
    console.log(`  - ${one.name}\n      ${(one.why ?? "").split("\n").slice(0, 40).join("\n      ")}`);
  if (failed.length > 0 && noise.length > 0) console.log(`  output:\n      ${noise.slice(-40).join("\n      ")}`);
}

/** Runs what the command line chooses of the areas in folder `here`. `clients`: the packages that must be installed there;
 *  `hidden`: a pattern of the environment variables that would change what they do. */
export async function runAreas({ here, clients, hidden }) {
  const areas = JSON.parse(readFileSync(path.join(here, "areas.json"), "utf8"));
  const chosen = parse(process.argv.slice(2), areas);
  const binary = path.resolve(chosen.binary);
  try {
    if (!chosen.endpoint) accessSync(binary, constants.X_OK);
  } catch {
    usage(`${binary} is missing or cannot be executed: build it first`, areas);
  }
  for (const client of clients)
    if (!existsSync(path.join(here, `node_modules/${client}/package.json`)))
      usage(`${client} is not installed: run npm ci in ${here}`, areas);
  const wanted = areas.filter(({ area, enabled }) =>
    chosen.names.length > 0 ? chosen.names.includes(area) : chosen.all || enabled,
  );
  const env = environment(binary, chosen.endpoint, hidden);
  const waiting = [...wanted];
  const all = [];
  const worker = async () => {
    for (let area = waiting.shift(); area; area = waiting.shift()) {
      const outcome = await runArea(here, area, env);
      report(outcome, chosen.verbose);
      all.push(...outcome.results);
    }
  };
  await Promise.all(Array.from({ length: chosen.jobs }, worker));
  const off = areas.filter((area) => !wanted.includes(area)).map(({ area }) => area);
  if (off.length > 0 && chosen.names.length === 0) console.log(`not enabled: ${off.join(" ")}`);
  const failed = all.filter(({ passed }) => !passed).length;
  console.log(`${all.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || all.length === 0 ? 1 : 0;
}

#!/usr/bin/env node
// Runs the official Svix clients of both lines against a binary:
//
//     node tests/conformance/svix/run.mjs --binary build/release/hikyaku [--all] [--jobs N] [-v] [AREA...]
//
// Without names: the areas that areas.json enables.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runAreas } from "../lib/runner.mjs";

await runAreas({
  here: path.dirname(fileURLToPath(import.meta.url)),
  clients: ["svix", "svix1", "standardwebhooks"],
  hidden: /SVIX/,
});

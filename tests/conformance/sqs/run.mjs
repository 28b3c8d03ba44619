#!/usr/bin/env node
// Runs the official SQS and SNS clients and sqs-consumer against a binary:
//
//     node tests/conformance/sqs/run.mjs --binary build/release/hikyaku [--all] [--jobs N] [-v] [AREA...]
//
// Without names: the areas that areas.json enables. --endpoint URL tries the suite on another server instead.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runAreas } from "../lib/runner.mjs";

await runAreas({
  here: path.dirname(fileURLToPath(import.meta.url)),
  clients: ["@aws-sdk/client-sqs", "@aws-sdk/client-sns", "sqs-consumer"],
  hidden: /^AWS_|^SQS_|^SNS_|^DEBUG$/,
});

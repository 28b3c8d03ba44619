// Health (webhooks-api 9.3).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { both, world } from "./harness.mjs";

describe("health", () => {
  const t = world();

  both(t, "is asked for", async (c) => {
    await c.health.get();
  });

  it("needs no token, and answers nothing but its status", async () => {
    for (const path of ["/health", "/health/", "/health/ping"]) {
      const answer = await t.raw("GET", `/api/v1${path}`, { token: null });
      assert.deepEqual([answer.status, answer.text], [204, ""], path);
    }
  });
});

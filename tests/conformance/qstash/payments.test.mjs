// A payment by a handler that QStash calls: the official receiver checks the delivery, one atomic request ends everything.
import assert from "node:assert/strict";
import http from "node:http";
import { describe, it } from "node:test";
import { Receiver as Verifier } from "@upstash/qstash";
import { Payments } from "../lib/payments.mjs";
import { DEV_KEYS, waitFor, world } from "./harness.mjs";

describe("payments", () => {
  const t = world();

  it("are booked exactly once, wherever the server dies", async () => {
    const mail = t.hook();
    const payments = new Payments(
      t.server,
      (...call) => t.raw(...call),
      (number) => ({
        op: "publish",
        destination: mail.url,
        body: `mail-${number}`,
        headers: { "Upstash-Retries": "100", "Upstash-Retry-Delay": "100" },
      }),
    );
    await payments.open();

    const verifier = new Verifier({ currentSigningKey: DEV_KEYS.current, nextSigningKey: DEV_KEYS.next, devMode: false });
    const forged = [];
    const handler = http.createServer(async (request, response) => {
      const chunks = [];
      try {
        for await (const chunk of request) chunks.push(chunk);
        const body = Buffer.concat(chunks).toString();
        const { headers } = request;
        await verifier
          .verify({ body, signature: headers["upstash-signature"], url: `${url}${request.url}` })
          .catch((why) => forged.push(why));
        const done = await payments.handle(Number(body), headers["upstash-message-id"], { fence: headers["hikyaku-fence"] });
        response.writeHead(done ? 200 : 503).end();
      } catch {
        response.destroy(); // the server is gone
      }
    });
    await new Promise((resolve) => handler.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${handler.address().port}`;
    try {
      await payments.throughCrashes((number) =>
        t.client.publish({
          url: `${url}/pay`,
          body: `${number}`,
          deduplicationId: `payment-${number}`,
          retries: 100,
          retryDelay: "100",
        }),
      );
      await payments.check();

      // Each has one message to the mail, however often that arrived.
      const ids = () => new Set(mail.requests.map(({ headers }) => headers["upstash-message-id"]));
      await waitFor(() => new Set(mail.bodies).size === payments.sent, `${payments.sent} mails`);
      await t.settle();
      assert.equal(ids().size, payments.sent, "a mail for each payment");
      assert.deepEqual(forged, []);
      assert.ok(payments.sent > 20, `only ${payments.sent} payments were made`);
    } finally {
      handler.closeAllConnections();
      handler.close();
    }
  });
});

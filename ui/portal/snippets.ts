/** How a receiver verifies, with the libraries of Standard Webhooks. */
export const snippets = {
  "Node.js": `// npm install standardwebhooks
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
app.post("/webhooks", express.raw({ type: "*/*" }), (request, response) => {
  try {
    // The raw body: parsed and written again, it would not match.
    const event = webhook.verify(request.body.toString(), request.headers);
    response.sendStatus(204);
  } catch {
    response.sendStatus(401);
  }
});`,
  Python: `# pip install standardwebhooks
import os
from flask import Flask, request
from standardwebhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 401
    return "", 204`,
  Go: `// go get github.com/standard-webhooks/standard-webhooks/libraries/go
wh, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
if err != nil {
	log.Fatal(err)
}
http.HandleFunc("/webhooks", func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2<<20))
	if err != nil || wh.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
})`,
  "Shell": `# secret: whsec_…  id, timestamp, signature: the headers webhook-id, webhook-timestamp, webhook-signature
key=$(printf %s "\${secret#whsec_}" | base64 -d | od -An -vtx1 | tr -d ' \\n')
printf '%s.%s.' "$id" "$timestamp" | cat - body.json |
  openssl dgst -sha256 -mac HMAC -macopt hexkey:"$key" -binary | base64   # one of the v1,… in $signature`,
} as const;

export type Language = keyof typeof snippets;

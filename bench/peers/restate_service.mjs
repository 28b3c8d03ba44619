// restate_service.mjs PORT: the service that Restate calls; its handler only counts what comes.
import net from "node:net";
import * as restate from "@restatedev/restate-sdk";
import { Arrivals } from "./arrivals.mjs";

// It would listen on every address of the machine.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest.filter((a) => typeof a === "function"));
};

const arrivals = new Arrivals();
const decoder = new TextDecoder();
const take = restate.handlers.handler(
  { input: restate.serde.binary, accept: "*/*" },
  async (_, body) => arrivals.record(decoder.decode(body.subarray(0, 40))));
await restate.endpoint().bind(restate.service({ name: "bench", handlers: { take } }))
  .setLogger(() => {}).listen(Number(process.argv[2]));
console.log("ready");

// Starts fauxqs for a measurement: fauxqs.mjs PORT [DIRECTORY], with a directory on SQLite, else in memory.
import net from "node:net";
import { startFauxqs } from "fauxqs";

// It would listen on every address of the machine.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (options, ...rest) {
  return listen.call(this, { ...options, host: "127.0.0.1" }, ...rest);
};

const [port, dataDir] = process.argv.slice(2);
await startFauxqs({ port: Number(port), logger: false, ...(dataDir ? { dataDir } : {}) });

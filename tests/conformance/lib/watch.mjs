// For its effect only. The runner holds the other end of our input: when it is gone, nobody waits for us, and the server must
// not stay behind.
if (process.env.HIKYAKU_E2E_WATCH) {
  process.stdin.on("close", () => process.exit(1)).resume();
  process.stdin.unref();
}

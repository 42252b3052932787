/**
 * Preloaded into every Node process of the stack: its standard input is a pipe that only the supervisor holds open. When that pipe
 * ends, the supervisor is gone, however it went, and this process ends too.
 */
const END_TIMEOUT_MS = 10_000;

process.stdin.on('error', () => undefined);
process.stdin.once('end', () => {
  process.kill(process.pid, 'SIGTERM');
  setTimeout(() => process.exit(1), END_TIMEOUT_MS).unref();
});
process.stdin.resume();
// The leash alone must not keep a process alive.
if ('unref' in process.stdin && typeof process.stdin.unref === 'function') process.stdin.unref();

import { spawn } from 'node:child_process';

/**
 * Signals `pid` when this process ends in any way, even by SIGKILL: a shell waits for the end of a pipe that only this
 * process holds open. `release` ends the watch once the watched process is gone.
 */
export const watchParent = (pid: number, signal: NodeJS.Signals): { release: () => void } => {
  const script = `read -r line; [ "$line" = released ] || kill -${signal.replace('SIG', '')} ${pid} 2>/dev/null`;
  const shell = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell an orderly stop still ends the process. Only a killed parent would leave it behind.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  // A pipe is a socket in Node, and must not keep this process alive either.
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
  return { release: () => shell.stdin.end('released\n') };
};

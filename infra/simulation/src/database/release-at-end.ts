import { spawn } from 'node:child_process';

/**
 * Lets stopped backends go on when this process is killed, because a server cannot stop while one of its processes is stopped.
 * A shell notices the end through a pipe. Returns a function that ends the watch.
 */
export const releaseAtEnd = (serverPid: number): (() => void) => {
  const script = 'read -r _; for child in $(cat /proc/"$1"/task/"$1"/children); do kill -CONT "$child"; done';
  const command = ['-c', script, 'sh', String(serverPid)];
  const shell = spawn('/bin/sh', command, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return () => shell.stdin.end('\n');
};

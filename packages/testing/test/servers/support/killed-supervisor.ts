import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Starts both servers in another process and kills it. With `orphan`, kills its watchdogs first. */
export const killSupervisor = async (directory: string, options: { orphan: boolean }) => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./start-and-wait.ts', import.meta.url)), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { value: line } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const pids: { postgres: number; nats: number } = JSON.parse(String(line));
  if (options.orphan) for (const pid of watchdogsOf(child.pid ?? 0)) process.kill(pid, 'SIGKILL');
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
  return pids;
};

/** Returns true if a process runs. A zombie does not count. */
export const isAlive = (pid: number): boolean => {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
};

/** Waits up to five seconds until none of the processes runs. */
export const allGone = async (pids: readonly number[]): Promise<boolean> => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (!pids.some(isAlive)) return true;
    await sleep(25);
  }
  return false;
};

const watchdogsOf = (parent: number): number[] => {
  const list = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], { encoding: 'utf8' });
  return list
    .split('\n')
    .filter((line) => line.includes('/bin/sh'))
    .map((line) => Number.parseInt(line, 10));
};

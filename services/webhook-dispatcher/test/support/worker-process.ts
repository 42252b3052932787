import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { environmentOf, type World } from './dispatcher.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A dispatcher in a separate process, as in production. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Kills it, as a crash does. */
  readonly kill: () => Promise<void>;
  /** Stops it with SIGTERM and returns the exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts `main.ts` and waits until it is ready. Appends its log to the world's. */
export const startWorkerProcess = async (world: World, env: Record<string, string> = {}): Promise<WorkerProcess> => {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...environmentOf(world), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    const onLine = (chunk: Buffer): void => {
      world.logs.push(chunk.toString());
      if (chunk.toString().includes('"message":"ready"')) resolve();
    };
    child.stdout?.on('data', onLine);
    child.stderr?.on('data', onLine);
    exited.then(() => reject(new Error(`the worker ended: ${world.logs.slice(-5).join('')}`)), reject);
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    child,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
};

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const MAIN = new URL('../../../infra/local/src/main.ts', import.meta.url).pathname;
const READY_TIMEOUT_MS = 150_000;
const STOP_TIMEOUT_MS = 45_000;

/** Content of `stack.json`. */
export interface StackFile {
  readonly base_url: string;
  readonly processes: Record<string, { pid: number; url: string; internal_url?: string }>;
  readonly database_urls: Record<string, string>;
  readonly nats_url: string;
  readonly nats_urls: Record<string, string>;
}

/** A stack started by a test run, in a separate data directory. */
export interface RunningStack {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly stop: () => Promise<number | null>;
}

/** Starts the product with the command of `pnpm start` and waits until it is ready. */
export const startStack = async (dataDir: string, environment: Record<string, string>): Promise<RunningStack> => {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, SVC_DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const baseUrl = await readyLine(child);
  const stop = async (): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode;
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
    child.kill('SIGTERM');
    const [code] = await exited;
    return code;
  };
  return { baseUrl, dataDir, stop };
};

/** Reads the supervisor's file about its processes. */
export const readStackFile = async (dataDir: string): Promise<StackFile> =>
  JSON.parse(await readFile(join(dataDir, 'stack.json'), 'utf8'));

const readyLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = '';
    const fail = (why: string) => {
      child.kill('SIGTERM');
      reject(new Error(`the stack did not start (${why}):\n${output}`));
    };
    const timer = setTimeout(() => fail('timeout'), READY_TIMEOUT_MS);
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /^ready (http\S+)/m.exec(output)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve(ready);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`exit code ${code}`);
    });
  });

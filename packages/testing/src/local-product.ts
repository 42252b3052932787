import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

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

const GIT_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

/**
 * Returns the last release before the current commit of a repository: the newest tag `v…` among its ancestors. Returns
 * undefined, and writes so in capitals, if there is none, because what compares releases then checks nothing.
 */
export const findPreviousRelease = async (
  repository: string,
  warn: (text: string) => void = (text) => process.stderr.write(text),
): Promise<string | undefined> => {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return (await run('git', ['-C', repository, ...describe], { timeout: GIT_TIMEOUT_MS })).stdout.trim();
  } catch {
    warn(
      'NO RELEASE IS TAGGED before this commit, so nothing is compared with it: checks of upgrades start with the first tag\n',
    );
    return undefined;
  }
};

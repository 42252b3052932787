import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { identifyProcess } from '@svc/testing/servers';
import type { StackDescription } from '../src/stack/stack-context.ts';

const RUNNER = fileURLToPath(new URL('fixtures/run-stack.ts', import.meta.url));
const PATIENCE_MS = 180_000;

/** A stack with stand-in services. */
export interface RunningStack {
  readonly child: ChildProcess;
  /** Standard output and standard error. */
  readonly output: () => string;
  readonly errors: () => string;
  /** The exit code. */
  readonly exited: Promise<number | null>;
  readonly description: () => StackDescription;
  readonly pids: () => number[];
}

/** Creates a data directory that `remove` deletes. */
export const makeDataDirectory = (): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), 'svc-stack-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

/** Starts a stack without waiting for it. */
export const startStack = (dataDirectory: string, env: NodeJS.ProcessEnv = {}): RunningStack => {
  const child = spawn(process.execPath, [RUNNER], {
    env: { PATH: process.env['PATH'], PORT: '0', SVC_DATA_DIR: dataDirectory, SAMPLE_PARTNER: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let errors = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (stream === child.stderr) errors += chunk.toString();
    });
  }
  // With all output. The child emits no `close` once its IPC channel is closed from here.
  const ends = [child.stdout, child.stderr].flatMap((stream) => (stream === null ? [] : [once(stream, 'close')]));
  const exited = Promise.all([once(child, 'exit'), ...ends]).then(() => child.exitCode);
  // The stack writes the file from a value of this type.
  const description = () => JSON.parse(readFileSync(join(dataDirectory, 'stack.json'), 'utf8')) as StackDescription;
  const pids = () => Object.values(description().processes).map(({ pid }) => pid);
  return { child, output: () => output, errors: () => errors, exited, description, pids };
};

/** Waits for the ready line and returns its URL. Throws, with all output, if the stack ends instead. */
export const untilReady = async (stack: RunningStack): Promise<string> => {
  await until(() => /^ready /m.test(stack.output()) || stack.child.exitCode !== null);
  const url = /^ready (\S+)$/m.exec(stack.output())?.[1];
  if (url === undefined) throw new Error(`The stack is not ready:\n${stack.output()}`);
  return url;
};

/** Waits until a condition holds. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not so after ${PATIENCE_MS} ms: ${holds}`);
    await sleep(50);
  }
};

/** Reports that a process runs. A zombie does not. */
export const isAlive = (pid: number): boolean => identifyProcess(pid) !== undefined;

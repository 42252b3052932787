import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessEndedError, ProcessError } from './errors.ts';
import type { ProcessExit, RunningProcess } from './start-process.ts';
import { tellingLine } from './telling-line.ts';

const POLL_MS = 20;

export interface ReadinessOptions {
  readonly name: string;
  readonly isReady: (pid: number) => Promise<boolean> | boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until a process is ready. Throws ProcessEndedError if it ends before, ProcessError if it takes too long, and the
 * reason of the signal. In all three cases the process is gone.
 */
export const waitUntilReady = async (running: RunningProcess, options: ReadinessOptions): Promise<void> => {
  const { name, timeoutMs, signal } = options;
  const deadline = performance.now() + timeoutMs;
  let exit: ProcessExit | undefined;
  // A probe may hang for long after the process has ended.
  const interrupted = Promise.withResolvers<false>();
  const interrupt = (): void => interrupted.resolve(false);
  void running.exited.then((value) => {
    exit = value;
    interrupt();
  });
  signal?.addEventListener('abort', interrupt);
  try {
    while (exit === undefined && signal?.aborted !== true && performance.now() < deadline) {
      if (await Promise.race([options.isReady(running.pid), interrupted.promise])) return;
      await sleep(POLL_MS);
    }
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
  if (exit !== undefined) throw new ProcessEndedError(`${name} ${describeEnd(exit, running.lastOutput())}`);
  await running.stop();
  signal?.throwIfAborted();
  const output = tellingLine(running.lastOutput());
  throw new ProcessError(`${name} is not ready after ${timeoutMs / 1000} s${output === '' ? '' : `: ${output}`}`);
};

/** Describes the end of a process and, from its output, the reason: `ended with code 1: the disk is full`. */
export const describeEnd = ({ code, signal }: ProcessExit, output = ''): string => {
  // A killed process could not say why.
  const reason = signal === 'SIGKILL' ? '' : tellingLine(output);
  return `${signal === null ? `ended with code ${code}` : `was ended by ${signal}`}${reason === '' ? '' : `: ${reason}`}`;
};

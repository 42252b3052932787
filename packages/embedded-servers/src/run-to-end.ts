import { ProcessEndedError, ProcessError } from './errors.ts';
import type { RunningProcess } from './start-process.ts';
import { describeEnd } from './wait-until-ready.ts';

export interface JobOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for a process that does one job and ends. Throws ProcessError if it fails or takes too long, and the reason of the
 * signal; the process is gone then.
 */
export const runToEnd = async (running: RunningProcess, { name, timeoutMs, signal }: JobOptions): Promise<void> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const abandoned = AbortSignal.any(signal === undefined ? [timeout] : [timeout, signal]);
  const stop = (): void => void running.stop();
  if (abandoned.aborted) stop();
  abandoned.addEventListener('abort', stop, { once: true });
  const exit = await running.exited;
  abandoned.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  if (timeout.aborted) throw new ProcessError(`${name} has not ended after ${timeoutMs / 1000} s`);
  if (exit.code !== 0) throw new ProcessEndedError(`${name} ${describeEnd(exit, running.lastOutput())}`);
};

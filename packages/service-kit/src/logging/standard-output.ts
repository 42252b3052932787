import { pino } from 'pino';

/** Time for which request lines are buffered: one system call takes longer than rendering a line. */
const DELAY_MS = 50;
/** Maximum bytes buffered. */
const BYTES_MAX = 8 * 1024;

/** Buffered standard output. */
export interface StandardOutput {
  readonly stream: ReturnType<typeof pino.destination>;
  /** Writes the buffered lines: now if urgent, otherwise within DELAY_MS. */
  readonly flush: (isUrgent: boolean) => void;
}

let shared: StandardOutput | undefined;

/** Returns the standard output of this process. Loggers share it, so their lines keep their order. */
export const standardOutput = (): StandardOutput => {
  shared ??= openStandardOutput();
  return shared;
};

const openStandardOutput = (): StandardOutput => {
  const stream = pino.destination({ fd: 1, sync: true, minLength: BYTES_MAX });
  let timer: NodeJS.Timeout | undefined;
  // Not flushSync, which waits for the disk if output goes to a file: bytes handed to the system survive this process.
  const flushNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    stream.flush();
  };
  // The last lines explain why the process ended.
  process.once('exit', () => stream.flushSync());
  return {
    stream,
    flush: (isUrgent) => {
      if (isUrgent) flushNow();
      else timer ??= setTimeout(flushNow, DELAY_MS).unref();
    },
  };
};

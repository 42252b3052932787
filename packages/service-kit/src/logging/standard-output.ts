import { pino } from 'pino';

/** Lines of requests wait so long for others: one write to the system takes more time than making a line. */
const DELAY_MS = 50;
/** More than these do not wait. */
const BYTES_MAX = 8 * 1024;

/** Standard output, written in pieces of many lines. */
export interface StandardOutput {
  readonly stream: ReturnType<typeof pino.destination>;
  /** What was written goes out: now where it is urgent, else within a moment. */
  readonly flush: (isUrgent: boolean) => void;
}

let shared: StandardOutput | undefined;

/** The one standard output of this process; loggers that share it keep the order of their lines. */
export const standardOutput = (): StandardOutput => {
  shared ??= openStandardOutput();
  return shared;
};

const openStandardOutput = (): StandardOutput => {
  const stream = pino.destination({ fd: 1, sync: true, minLength: BYTES_MAX });
  let timer: NodeJS.Timeout | undefined;
  // Not flushSync, which waits for the disk where output goes to a file: what the system has been given survives this process.
  const flushNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    stream.flush();
  };
  // However the process ends, short of being killed: the last lines tell why.
  process.once('exit', () => stream.flushSync());
  return {
    stream,
    flush: (isUrgent) => {
      if (isUrgent) flushNow();
      else timer ??= setTimeout(flushNow, DELAY_MS).unref();
    },
  };
};

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const MICROSECONDS_PER_SECOND = 1_000_000;
/**
 * Field positions in /proc/<pid>/stat after the command name, which may contain blanks: parent, user and system time.
 */
const PARENT_FIELD = 1;
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;
/** The same for children that have ended. */
const ENDED_FIELDS: readonly number[] = [13, 14];
let ticksPerSecond: number | undefined;

/** Returns the processor time of a process in microseconds (Linux only). */
export const processorMicroseconds = (pid: number): number => toMicroseconds(statOf(pid), [USER_FIELD, SYSTEM_FIELD]);

/** Like `processorMicroseconds`, for a process and all its children, such as a database server's connections. */
export const familyMicroseconds = (pid: number): number => {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = pids.filter((child) => {
    try {
      return Number(statOf(Number(child))[PARENT_FIELD]) === pid;
    } catch {
      // It has ended in the meantime.
      return false;
    }
  });
  const living = [pid, ...children.map(Number)].map(processorMicroseconds).reduce((sum, used) => sum + used, 0);
  return living + toMicroseconds(statOf(pid), ENDED_FIELDS);
};

const toMicroseconds = (fields: readonly string[], positions: readonly number[]): number => {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const ticks = positions.reduce((sum, position) => sum + Number(fields[position]), 0);
  return (ticks / ticksPerSecond) * MICROSECONDS_PER_SECOND;
};

const statOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** Returns the share of all cores that other processes use while this one only waits. */
export const foreignShare = async (milliseconds = 500): Promise<number> => {
  const before = totals();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const after = totals();
  return after.all > before.all ? 1 - (after.idle - before.idle) / (after.all - before.all) : 0;
};

const totals = (): { idle: number; all: number } =>
  cpus().reduce(
    (sum, { times }) => ({
      idle: sum.idle + times.idle,
      all: sum.all + times.idle + times.user + times.sys + times.nice + times.irq,
    }),
    { idle: 0, all: 0 },
  );

const SAMPLE_MS = 20;

/** Returns the resident memory of a process (Linux only). */
export const residentMegabytes = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000);

/** Watches the resident memory of a process; `stop` returns the peak. */
export const watchPeak = (pid: number): { readonly stop: () => number } => {
  let peak = residentMegabytes(pid);
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(pid));
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return Math.max(peak, residentMegabytes(pid));
    },
  };
};

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const MICROSECONDS_PER_SECOND = 1_000_000;
/** Of a line of /proc/<pid>/stat after the command's name, which may hold blanks: user and system time. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;
let ticksPerSecond: number | undefined;

/** Microseconds of processor time that a process has used so far (Linux only). */
export const processorMicroseconds = (pid: number): number => {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD]);
  return (ticks / ticksPerSecond) * MICROSECONDS_PER_SECOND;
};

/** The share of all cores that is in use over this time while this process only waits: what others do to a measurement. */
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

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process, told apart from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the unit of the operating system. */
  readonly started: string;
}

/** Returns the identity of a running process. A zombie does not count as running. */
export const identifyProcess = (pid: number): ProcessIdentity | undefined => {
  const started = process.platform === 'linux' ? startTicksFromProc(pid) : startTimeFromPs(pid);
  return started === undefined ? undefined : { pid, started };
};

export const isStillRunning = (identity: ProcessIdentity): boolean =>
  identifyProcess(identity.pid)?.started === identity.started;

/** Checks JSON that another run has written. */
export const isProcessIdentity = (value: unknown): value is ProcessIdentity =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  Number.isInteger(value.pid) &&
  'started' in value &&
  typeof value.started === 'string';

const startTicksFromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name (field 2) may contain spaces and parentheses, so count from its last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
};

const startTimeFromPs = (pid: number): string | undefined => {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 });
    return line.trim().startsWith('Z') ? undefined : line.trim().replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
};

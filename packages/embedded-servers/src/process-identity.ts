import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one which got the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in whatever unit the operating system tells. */
  readonly started: string;
}

/** Who has this pid now; undefined when nobody does. */
export const identifyProcess = (pid: number): ProcessIdentity | undefined => {
  const started = process.platform === 'linux' ? startTicksFromProc(pid) : startTimeFromPs(pid);
  return started === undefined ? undefined : { pid, started };
};

/** Whether that very process still runs (a zombie does not). */
export const isStillRunning = (identity: ProcessIdentity): boolean => {
  return identifyProcess(identity.pid)?.started === identity.started;
};

const startTicksFromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name (field 2) may hold spaces and parentheses: count from behind its last parenthesis.
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

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in whatever unit the operating system tells. */
  started: string;
}

/** Who has this pid now; undefined when nobody does, or only a zombie. */
export const identifyProcess = (pid: number): ProcessIdentity | undefined => {
  try {
    const started = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
    return started === undefined ? undefined : { pid, started };
  } catch {
    return undefined;
  }
};

/** Whether that very process still runs. */
export const isRunning = (identity: ProcessIdentity): boolean =>
  identifyProcess(identity.pid)?.started === identity.started;

const startFromProc = (pid: number): string | undefined => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command name (field 2) may hold spaces and parentheses, so fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
};

const startFromPs = (pid: number): string | undefined => {
  const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 5_000,
  }).trim();
  return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
};

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ANCESTORS_MAX = 8;
const MANAGER = /^(?:npm|npx|pnpm)\b|\/(?:npm|npx|pnpm)(?:-cli)?(?:\.c?js)?(?:\s|$)/;
const SHELL = /^(?:\S*\/)?(?:sh|bash|dash|zsh)\s/;

/**
 * The package managers (`npx pnpm start` makes two) through which a process was started. They do not always pass on that they
 * were stopped, so whoever wants to end with them must look after them. A shell or a program that called them is none of them.
 */
export const listPackageManagers = (pid: number): number[] => {
  const managers: number[] = [];
  let ancestor = pid;
  for (let depth = 0; depth < ANCESTORS_MAX && ancestor > 1; depth += 1) {
    const found = describe(ancestor);
    if (found === undefined) break;
    if (!SHELL.test(found.command) && MANAGER.test(found.command)) managers.push(ancestor);
    ancestor = found.parent;
  }
  return managers;
};

/** Whether a process with this pid exists. */
export const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const describe = (pid: number): { parent: number; command: string } | undefined => {
  try {
    if (process.platform !== 'linux') {
      const line = execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], {
        encoding: 'utf8',
        timeout: 5_000,
      });
      const [, parent = '', command = ''] = /^\s*(\d+)\s+(.*)/.exec(line) ?? [];
      return { parent: Number(parent), command };
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    return { parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() };
  } catch {
    return undefined;
  }
};

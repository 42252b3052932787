import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ANCESTORS_MAX = 8;
const MANAGER = /^(?:npm|npx|pnpm)\b|\/(?:npm|npx|pnpm)(?:-cli)?(?:\.c?js)?(?:\s|$)/;
const SHELL = /^(?:\S*\/)?(?:sh|bash|dash|zsh)\s/;

/**
 * Lists the package managers that a process descends from: `npx pnpm start` makes two. They do not always forward the signal
 * that stops them, so the supervisor watches them. Shells and programs that have called them do not count.
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

export const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

const describe = (pid: number): { parent: number; command: string } | undefined => {
  try {
    if (process.platform !== 'linux') {
      const options = { encoding: 'utf8', timeout: 5_000 } as const;
      const line = execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(pid)], options);
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

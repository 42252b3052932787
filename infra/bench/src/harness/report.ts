import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { locateNatsServer, locatePostgres } from '@svc/testing/servers';
import { readable } from './statistics.ts';

type Cell = string | number;

/** Prints a Markdown table. */
export const printTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): void => {
  const texts = [head, ...rows].map((row) => row.map((cell) => (typeof cell === 'number' ? readable(cell) : cell)));
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0), 3));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = texts;
  say([line(first), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest.map(line), ''].join('\n'));
};

/** Writes a line to the report. */
export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints the circumstances without which the figures have no meaning: time, commit, machine, load. */
export const printCircumstances = (name: string): void => {
  const commit = output('git', ['rev-parse', '--short', 'HEAD']);
  const isChanged = output('git', ['status', '--porcelain', '--untracked-files=no']) !== '';
  say(`## ${name}\n`);
  say(
    [
      `- ${new Date().toISOString()}, commit ${commit}${isChanged ? ' with uncommitted changes' : ''}`,
      `- Node ${process.version}, ${output(locatePostgres().postgres, ['--version'])}, ${output(locateNatsServer(), ['--version'])}`,
      `- ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}); client, servers and services share them`,
      `- load average before: ${loadText()}\n`,
    ].join('\n'),
  );
};

/** Load average of 1, 5 and 15 minutes. */
export const loadText = (): string =>
  loadavg()
    .map((load) => load.toFixed(1))
    .join(', ');

const output = (command: string, args: readonly string[]): string => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', cwd: import.meta.dirname }).trim();
  } catch {
    return 'unknown';
  }
};

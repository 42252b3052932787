import type { ParseArgsConfig } from 'node:util';
import type { RouteDefinition } from '@svc/contracts';
import type { CallInput, CallResult } from '@svc/service-kit';
import type { AddressBook, Contexts } from './contexts.ts';
import type { MachineSettings } from './doctor.ts';
import { UsageError } from './operator-error.ts';

/** Calls a route of the service that owns it and returns the body. */
export type CallService = <R extends RouteDefinition>(route: R, input: CallInput<R>) => Promise<CallResult<R>['body']>;

export type Cell = string | number | boolean | null;

/** Prints a line. With `--json` it collects lines, and tables as they are. */
export interface Print {
  (line: string): void;
  readonly table?: (heading: readonly string[], rows: readonly (readonly Cell[])[]) => void;
}

export interface CommandContext {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly call: CallService;
  /** Addresses of the internal listeners. Throws OperatorError if there are none. */
  readonly addresses: () => AddressBook;
  readonly print: Print;
  readonly contexts: () => Contexts;
  readonly env: MachineSettings;
}

/** A command. All are idempotent: a second run changes nothing and says so. */
export interface Command {
  readonly words: readonly string[];
  readonly usage: string;
  /** Maximum positional arguments; 0 if omitted. */
  readonly argumentsMax?: number;
  readonly about: string;
  readonly options?: ParseArgsConfig['options'];
  /** If false, the command needs no addresses. */
  readonly callsServices?: false;
  /** Returns true if everything checked or done is in order. */
  readonly run: (context: CommandContext) => Promise<boolean>;
}

/** Returns the positional argument at a place. Throws UsageError if it is missing. */
export const argument = ({ positionals }: CommandContext, place: number, name: string): string => {
  const value = positionals[place];
  if (value === undefined) throw new UsageError(`${name} is missing`);
  return value;
};

/** Checks that a value is one of the given words. Throws UsageError otherwise. */
export const oneOf = <const T extends string>(value: string, choices: readonly T[]): T => {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw new UsageError(`"${value}" is none of ${choices.join(', ')}`);
  return choice;
};

/** Removes what could control the terminal from text that others wrote, such as names and comments. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, ' ');

/** Prints aligned rows under a heading. */
export const printTable = (print: Print, heading: readonly string[], rows: readonly (readonly Cell[])[]): void => {
  if (print.table !== undefined) {
    print.table(heading, rows);
    return;
  }
  const lines = [heading, ...rows].map((row) => row.map((cell) => String(cell ?? '-')));
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines)
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
};

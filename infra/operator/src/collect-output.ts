import type { Cell, Print } from './command.ts';

/** Output of a command for programs. Tables have a member for each column. */
export interface CollectedOutput {
  readonly lines: readonly string[];
  readonly tables: readonly (readonly Readonly<Record<string, Cell>>[])[];
}

/** Collects what a command prints. */
export const collectOutput = (): { readonly print: Print; readonly output: () => CollectedOutput } => {
  const lines: string[] = [];
  const tables: Readonly<Record<string, Cell>>[][] = [];
  const print = Object.assign(
    (line: string) => {
      if (line !== '') lines.push(line);
    },
    {
      table: (heading: readonly string[], rows: readonly (readonly Cell[])[]) => {
        const names = heading.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '_'));
        tables.push(rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column] ?? null]))));
      },
    },
  );
  return { print, output: () => ({ lines, tables }) };
};

import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Fields } from './objects.ts';

/** Keeps objects in a file of JSON lines, one for each change. The last line of an object counts. */
export interface Journal {
  /** Objects of the file, in the order in which they were added. */
  readonly objects: readonly Fields[];
  /** Adds a line for an object that changed, or that was deleted. */
  readonly write: (id: string, object: Fields | undefined) => void;
}

/** Opens a journal and rewrites it without what is outdated. A line that a crash cut off is left out. */
export const openJournal = (file: string): Journal => {
  const objects = new Map<string, Fields>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const entry = parseLine(line);
    if (entry === undefined) continue;
    if (entry.object === null) objects.delete(entry.id);
    else objects.set(entry.id, entry.object);
  }
  const kept = [...objects.entries()].map(([id, object]) => toLine(id, object));
  writeFileSync(`${file}.new`, kept.join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return {
    objects: [...objects.values()],
    write: (id, object) => appendFileSync(file, toLine(id, object)),
  };
};

const toLine = (id: string, object: Fields | undefined): string =>
  `${JSON.stringify({ id, object: object ?? null })}\n`;

const parseLine = (line: string): { readonly id: string; readonly object: Fields | null } | undefined => {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
};

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A journal directory contains, for each process, a lock file and numbered segments. */
const FILE = /^([\w-]+)\.(?:lock|(\d+)\.jsonl)$/;

export const lockFile = (directory: string, owner: string): string => join(directory, `${owner}.lock`);

export const segmentFile = (directory: string, owner: string, number: number): string =>
  join(directory, `${owner}.${number}.jsonl`);

/** Lists the processes that have files in the directory. */
export const listOwners = async (directory: string): Promise<readonly string[]> => {
  const owners = (await readdir(directory)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  return [...new Set(owners)].sort();
};

/** Lists the segments of a process, oldest first. */
export const listSegments = async (directory: string, owner: string): Promise<readonly string[]> => {
  const numbers = (await readdir(directory)).flatMap((name) => {
    const [, fileOwner, number] = FILE.exec(name) ?? [];
    return fileOwner === owner && number !== undefined ? [Number(number)] : [];
  });
  return numbers.sort((one, other) => one - other).map((number) => segmentFile(directory, owner, number));
};

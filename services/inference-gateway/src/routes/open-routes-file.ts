import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '@svc/service-kit';
import { parseRoutesFile, RoutesFileError } from './parse-routes-file.ts';
import type { ReadProviderKey } from './read-provider-key.ts';
import type { RouteTable } from './route-table.ts';

/** Asking the file's state needs no support from its file system, and follows links that are swapped under it. */
const WATCH_INTERVAL_MS = 1_000;

/** The routes in force. */
export interface RoutesInForce {
  /** The table of the last good file. */
  readonly table: () => RouteTable;
  /** Reads the file again; false where it is bad, and then the table stays as it was. */
  readonly reload: () => Promise<boolean>;
  readonly stop: () => void;
}

/** What reading the routes file needs. */
export interface RoutesFileOptions {
  readonly file: string;
  /** Asked again at each reload. */
  readonly providerKey: ReadProviderKey;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** Reads the routes file and keeps watching it. Throws RoutesFileError when it is bad from the start. */
export const openRoutesFile = async (options: RoutesFileOptions): Promise<RoutesInForce> => {
  const { file, providerKey, clock, logger } = options;
  let text = await readFile(file, 'utf8');
  let table = parseRoutesFile(text, { nowMs: clock(), providerKey });

  const readAgain = async (): Promise<boolean> => {
    try {
      const newText = await readFile(file, 'utf8');
      const newTable = parseRoutesFile(newText, { nowMs: clock(), providerKey });
      if (newText !== text) logger.info({ file }, 'routes file loaded');
      text = newText;
      table = newTable;
      return true;
    } catch (error) {
      const faults = error instanceof RoutesFileError ? error.faults : [];
      logger.error({ file, faults, err: error }, 'routes file refused, the previous one stays in force');
      return false;
    }
  };

  // One at a time, so that an older reading never replaces a newer one.
  let last: Promise<boolean> = Promise.resolve(true);
  const reload = (): Promise<boolean> => {
    last = last.then(readAgain);
    return last;
  };
  const onChange = (): void => void reload();
  watchFile(file, { interval: WATCH_INTERVAL_MS, persistent: false }, onChange);
  return { table: () => table, reload, stop: () => unwatchFile(file, onChange) };
};

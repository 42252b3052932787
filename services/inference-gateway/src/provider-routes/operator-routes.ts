import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { serviceOperations } from '@svc/contracts';
import { type Binding, bind, type Logger } from '@svc/service-kit';
import type { ReadProviderKey } from './parse-routes-file.ts';
import { parseRoutesFile, RoutesFileError } from './parse-routes-file.ts';
import type { RouteTable } from './route-table.ts';

interface RoutesOperatorDeps extends Pick<RoutesFileOptions, 'providerKey' | 'clock'> {
  readonly routes: RoutesInForce;
}

/** Binds the operator's routes for the routes file, in the internal application. */
export const routesOperatorRoutes = (deps: RoutesOperatorDeps): Binding[] => [
  bind(serviceOperations.checkRoutesFile, async ({ body }) => ({
    status: 200,
    body: { faults: faultsOf(body.text, deps) },
  })),
  bind(serviceOperations.reloadRoutes, async () => ({ status: 200, body: { loaded: await deps.routes.reload() } })),
];

const faultsOf = (text: string, { providerKey, clock }: RoutesOperatorDeps): readonly string[] => {
  try {
    parseRoutesFile(text, { nowMs: clock(), providerKey });
    return [];
  } catch (error) {
    if (error instanceof RoutesFileError) return error.faults;
    throw error;
  }
};

/** Polling works on any file system, and follows symbolic links that are swapped. */
const WATCH_INTERVAL_MS = 1_000;

export interface RoutesInForce {
  /** Returns the table of the last valid file. */
  readonly table: () => RouteTable;
  /** Reads the file again. Returns false, and keeps the current table, if it is invalid. */
  readonly reload: () => Promise<boolean>;
  readonly stop: () => void;
}

export interface RoutesFileOptions {
  readonly file: string;
  /** Called again at each reload. */
  readonly providerKey: ReadProviderKey;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Called with each table that comes into force. */
  readonly onLoad: (table: RouteTable) => void;
}

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new RoutesFileError([`ROUTES_FILE: ${file} cannot be read`], error);
  }
};

/** Reads the routes file and watches it for changes. Throws RoutesFileError if it is invalid at the start. */
export const openRoutesFile = async (options: RoutesFileOptions): Promise<RoutesInForce> => {
  const { file, providerKey, clock, logger, onLoad } = options;
  let text = await readText(file);
  let table = parseRoutesFile(text, { nowMs: clock(), providerKey });
  onLoad(table);

  const readAgain = async (): Promise<boolean> => {
    try {
      const newText = await readText(file);
      const newTable = parseRoutesFile(newText, { nowMs: clock(), providerKey });
      if (newText !== text) logger.info({ file }, 'routes file loaded');
      text = newText;
      table = newTable;
      onLoad(table);
      return true;
    } catch (error) {
      const faults = error instanceof RoutesFileError ? error.faults : [];
      logger.error({ file, faults, err: error }, 'routes file refused, the previous one stays in force');
      return false;
    }
  };

  // Reloads are serialized, so that an older reading never replaces a newer one.
  let last: Promise<boolean> = Promise.resolve(true);
  const reload = (): Promise<boolean> => {
    last = last.then(readAgain);
    return last;
  };
  const onChange = (): void => void reload();
  watchFile(file, { interval: WATCH_INTERVAL_MS, persistent: false }, onChange);
  return { table: () => table, reload, stop: () => unwatchFile(file, onChange) };
};

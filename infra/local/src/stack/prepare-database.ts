import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ServiceName } from '@svc/contracts';
import { runToEnd, StartError, startProcess } from '@svc/testing/servers';
import { readJsonFile, writeFileAtomically } from './data-directory.ts';
import { reportStep, withLogPath } from './report.ts';
import { variablePrefix } from './secrets.ts';
import { inheritedEnvironment } from './service-environment.ts';
import type { StackContext } from './stack-context.ts';
import { type DatabaseServer, givenDatabaseUrl } from './start-servers.ts';

const MIGRATION_TIMEOUT_MS = 3_600_000;
const MIGRATION_STOP_MS = 5_000;

/** Creates a service's database if it is missing, migrates it, and returns its URL. Throws StartError. */
export const prepareDatabase = async (
  context: StackContext,
  service: ServiceName,
  server: DatabaseServer | undefined,
): Promise<string> => {
  const given = givenDatabaseUrl(context.settings.env, service);
  const url = given ?? (await provisionDatabase(context, service, server));
  const digest = digestMigrations(join(context.settings.servicesDirectory, service, 'migrations'));
  // Only our own database is known to be unchanged, and only if its cluster is the one that we left.
  const isUnchanged = given === undefined && !server?.created && readMigrated(context)[service] === digest;
  if (isUnchanged) return url;
  await runMigrations(context, service, url);
  if (given === undefined) rememberMigrated(context, service, digest);
  return url;
};

const provisionDatabase = async (
  { secrets, report }: StackContext,
  service: ServiceName,
  server: DatabaseServer | undefined,
): Promise<string> => {
  if (server === undefined) throw new StartError(`There is no database server for ${service}.`);
  // Imported while PostgreSQL starts, as knex takes as long to load.
  const { provision } = await import('@svc/database');
  const password = secrets[`${variablePrefix(service)}_DATABASE_PASSWORD`];
  const step = { doing: `creating the database of ${service}` };
  try {
    return await reportStep(report, step, () => provision({ adminUrl: server.adminUrl, service, password }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = /password authentication/.test(reason)
      ? 'secrets.json does not fit the databases: put back the one that they were created with.'
      : 'See the log of postgres in the data directory.';
    throw new StartError(`The database of ${service} cannot be created (${reason}). ${advice}`, { cause: error });
  }
};

const runMigrations = async (context: StackContext, service: ServiceName, url: string): Promise<void> => {
  const { settings, paths, logOf, report, signal } = context;
  const directory = join(settings.servicesDirectory, service);
  const script = join(directory, 'src', 'migrate.ts');
  if (!existsSync(script)) return;
  signal.throwIfAborted();
  const log = logOf(`${service}-migrate`);
  const migration = await startProcess({
    command: [process.execPath, script],
    cwd: directory,
    env: { ...inheritedEnvironment(settings.env, paths.compileCache), DATABASE_URL: url },
    stopSignals: ['SIGTERM'],
    stopStepMs: MIGRATION_STOP_MS,
    onOutput: log.write,
  });
  const job = { name: `The migration of ${service}`, timeoutMs: MIGRATION_TIMEOUT_MS, signal };
  const step = { doing: `migrating the database of ${service}`, done: `${service} has its database migrated` };
  await withLogPath(log.path, () => reportStep(report, step, () => runToEnd(migration, job)));
};

/** Hashes all migrations and the SQL functions below them, so that a start runs the migrator only after an update. */
const digestMigrations = (directory: string): string => {
  const hash = createHash('sha256');
  const entries = existsSync(directory) ? readdirSync(directory, { recursive: true, withFileTypes: true }) : [];
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  for (const path of paths.sort()) {
    hash
      .update(`${relative(directory, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
};

const readMigrated = ({ paths }: StackContext): Record<string, unknown> => {
  const json = readJsonFile(paths.migrated);
  return typeof json === 'object' && json !== null ? { ...json } : {};
};

const rememberMigrated = (context: StackContext, service: ServiceName, digest: string): void => {
  const migrated = { ...readMigrated(context), [service]: digest };
  writeFileAtomically(context.paths.migrated, `${JSON.stringify(migrated, null, 2)}\n`);
};

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ServiceName } from '@svc/contracts';
import { startNodeProcess } from '../process/node-process.ts';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { variablePrefix } from './secrets.ts';
import { inheritedEnvironment } from './service-environment.ts';
import type { StackContext } from './stack-context.ts';
import { StartError } from './start-error.ts';
import { failureText } from './start-node-app.ts';
import { type DatabaseServer, givenDatabaseUrl } from './start-servers.ts';

const MIGRATION_GRACE_MS = 5_000;
const LAST_LINES = 15;

/** Makes a service's database where it is missing, and brings it to the newest migration; answers its address. */
export const prepareDatabase = async (
  context: StackContext,
  service: ServiceName,
  server: DatabaseServer | undefined,
): Promise<string> => {
  const given = givenDatabaseUrl(context.settings.env, service);
  const url = given ?? (await provisionDatabase(context, service, server));
  const digest = digestMigrations(join(context.settings.servicesDirectory, service, 'migrations'));
  // Only our own database is known to be as we left it, and only where its cluster is the one we left.
  const isUnchanged = given === undefined && !server?.created && readMigrated(context)[service] === digest;
  if (isUnchanged) return url;
  await runMigrations(context, service, url);
  if (given === undefined) rememberMigrated(context, service, digest);
  return url;
};

const provisionDatabase = async (
  { secrets }: StackContext,
  service: ServiceName,
  server: DatabaseServer | undefined,
): Promise<string> => {
  if (server === undefined) throw new StartError(`There is no database server for ${service}.`);
  // Loaded while PostgreSQL starts: knex takes as long as the server does.
  const { provision } = await import('@svc/database');
  const password = secrets[`${variablePrefix(service)}_DATABASE_PASSWORD`];
  return await provision({ adminUrl: server.adminUrl, service, password });
};

const runMigrations = async (context: StackContext, service: ServiceName, url: string): Promise<void> => {
  const { settings, paths, logOf, report, signal } = context;
  const directory = join(settings.servicesDirectory, service);
  const name = `${service}-migrate`;
  const log = logOf(name);
  const script = join(directory, 'src', 'migrate.ts');
  if (!existsSync(script)) return;
  signal.throwIfAborted();
  const env = { ...inheritedEnvironment(settings.env, paths.compileCache), DATABASE_URL: url };
  const migration = await startNodeProcess({ script, directory, env, log, graceMs: MIGRATION_GRACE_MS });
  const abandon = (): void => void migration.stop();
  signal.addEventListener('abort', abandon, { once: true });
  const { code } = await migration.exited;
  signal.removeEventListener('abort', abandon);
  signal.throwIfAborted();
  if (code !== 0) {
    const lines = log.lastLines(LAST_LINES);
    throw new StartError(failureText(service, 'its database cannot be migrated', { path: log.path, lines }));
  }
  report.line(`${service} has its database migrated`);
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

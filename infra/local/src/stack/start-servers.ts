import type { ServiceName } from '@svc/contracts';
import { EmbeddedServerError, type RunningServer, startNats, startPostgres } from '@svc/embedded-servers';
import type { RunningProcess } from '../process/node-process.ts';
import { seconds } from './report.ts';
import { variablePrefix } from './secrets.ts';
import type { StackContext } from './stack-context.ts';
import { StartError } from './start-error.ts';

const ADMIN = 'svc_admin';
/** Four services, each with a pool per process, and people who look. */
const CONNECTIONS_MAX = 200;

/** The database server, and whether this start made it. */
export interface DatabaseServer {
  adminUrl: string;
  created: boolean;
}

/** Starts PostgreSQL on the stack's data directory and keeps it running. */
export const startDatabaseServer = async (context: StackContext): Promise<DatabaseServer> => {
  const { ports, secrets, paths, logOf } = context;
  const port = ports.get('postgres') ?? 0;
  const log = logOf('postgres');
  let created = false;
  const launch = async (): Promise<RunningProcess> => {
    const server = await startPostgres({
      dataDir: paths.cluster,
      port,
      user: ADMIN,
      password: secrets.POSTGRES_PASSWORD,
      flags: { max_connections: String(CONNECTIONS_MAX) },
      onLog: (line) => log.write(`${line}\n`),
    });
    created ||= server.created;
    return toRunningProcess(server);
  };
  const adminUrl = `postgres://${ADMIN}:${secrets.POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`;
  context.addresses.set('postgres', { url: `postgres://127.0.0.1:${port}` });
  await startServer(context, 'postgres', launch);
  return { adminUrl, created };
};

/** Starts NATS on the stack's data directory and keeps it running; answers its address. A `NATS_URL` that is set is used instead. */
export const startBroker = async (context: StackContext): Promise<string> => {
  const { ports, paths, settings, logOf } = context;
  const given = settings.env['NATS_URL'];
  if (given) return given;
  const port = ports.get('nats') ?? 0;
  const log = logOf('nats');
  const url = `nats://127.0.0.1:${port}`;
  context.addresses.set('nats', { url });
  await startServer(context, 'nats', async () =>
    toRunningProcess(await startNats({ storeDir: paths.nats, port, onLog: (line) => log.write(`${line}\n`) })),
  );
  return url;
};

/** The database that the person has set for a service, if any. */
export const givenDatabaseUrl = (env: NodeJS.ProcessEnv, service: ServiceName): string | undefined =>
  env[`${variablePrefix(service)}_DATABASE_URL`] || undefined;

const startServer = async (
  { group, report }: StackContext,
  name: string,
  launch: () => Promise<RunningProcess>,
): Promise<void> => {
  const startedAt = performance.now();
  try {
    await group.start({ name, launch });
  } catch (error) {
    if (error instanceof EmbeddedServerError) throw new StartError(error.message, { cause: error });
    throw error;
  }
  report.line(`${name} is ready (${seconds(performance.now() - startedAt)} s)`);
};

const toRunningProcess = ({ pid, exited, stop, kill }: RunningServer): RunningProcess => ({
  pid,
  exited,
  stop,
  kill: () => void kill(),
});

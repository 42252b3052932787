import type { ServiceName } from '@svc/contracts';
import { startPostgres } from '@svc/embedded-servers';
import { keepRunning } from './keep-running.ts';
import { variablePrefix } from './secrets.ts';
import type { StackContext } from './stack-context.ts';

const ADMIN = 'svc_admin';
/** Enough for a pool in each process of the four services, and for manual connections. */
const CONNECTIONS_MAX = 200;

export interface DatabaseServer {
  readonly adminUrl: string;
  /** True if this start created the cluster. */
  readonly created: boolean;
}

/** Starts PostgreSQL on the stack's data directory and keeps it running. */
export const startDatabaseServer = async (context: StackContext): Promise<DatabaseServer> => {
  const { ports, secrets, paths } = context;
  const port = ports.get('postgres') ?? 0;
  let created = false;
  await keepRunning(context, {
    name: 'postgres',
    url: `postgres://127.0.0.1:${port}`,
    launch: async (options) => {
      const server = await startPostgres({
        ...options,
        dataDir: paths.cluster,
        port,
        user: ADMIN,
        password: secrets.POSTGRES_PASSWORD,
        flags: { max_connections: String(CONNECTIONS_MAX) },
      });
      created ||= server.created;
      return server;
    },
  });
  return { adminUrl: `postgres://${ADMIN}:${secrets.POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`, created };
};

export const givenDatabaseUrl = (env: NodeJS.ProcessEnv, service: ServiceName): string | undefined =>
  env[`${variablePrefix(service)}_DATABASE_URL`] || undefined;

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '@svc/embedded-servers';

const PORT_DEFAULT = 8080;
const HOST_DEFAULT = '127.0.0.1';
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** Paths relative to the person's working directory. Services have another one. */
const FILE_VARIABLES = ['ROUTES_FILE', 'PLANS_FILE', 'WEBHOOK_EXTRA_CA_FILE', 'DATABASE_CA_FILE', 'NATS_CA_FILE'];

export interface StackSettings {
  readonly root: string;
  readonly servicesDirectory: string;
  readonly dataDirectory: string;
  readonly host: string;
  /** Port of the ingress. 0 takes a free one. */
  readonly port: number;
  /** Base URL for clients, if it differs from the ingress's address. */
  readonly publicBaseUrl: string | undefined;
  /** The person's environment. It wins over the stack's defaults. */
  readonly env: NodeJS.ProcessEnv;
}

/** Reads `PORT`, `SVC_DATA_DIR`, `SVC_SERVICES_DIR`, `INGRESS_HOST` and `PUBLIC_BASE_URL`. Throws StartError for a malformed port. */
export const readSettings = (env: NodeJS.ProcessEnv, cwd: string): StackSettings => ({
  root: ROOT,
  servicesDirectory: env['SVC_SERVICES_DIR'] ? resolve(cwd, env['SVC_SERVICES_DIR']) : resolve(ROOT, 'services'),
  dataDirectory: env['SVC_DATA_DIR'] ? resolve(cwd, env['SVC_DATA_DIR']) : resolve(ROOT, '.local'),
  host: env['INGRESS_HOST'] || HOST_DEFAULT,
  port: env['PORT'] ? readPort('PORT', env['PORT']) : PORT_DEFAULT,
  publicBaseUrl: env['PUBLIC_BASE_URL']?.replace(/\/+$/, '') || undefined,
  env: withAbsolutePaths(env, cwd),
});

/** Parses a port from a variable. Throws StartError. */
export const readPort = (variable: string, value: string): number => {
  const port = Number(value);
  if (!/^\d+$/.test(value) || port > 65_535)
    throw new StartError(`${variable}=${value} is not a port: use 0 to 65535.`);
  return port;
};

const withAbsolutePaths = (env: NodeJS.ProcessEnv, cwd: string): NodeJS.ProcessEnv => {
  const absolute = { ...env };
  for (const variable of FILE_VARIABLES) {
    const path = env[variable];
    if (path) absolute[variable] = resolve(cwd, path);
  }
  return absolute;
};

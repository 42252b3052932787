import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { claimPortBlock, isPortFree, type PortBlock, StartError } from '@svc/testing/servers';
import { readJsonFile, writeFileAtomically } from './data-directory.ts';

export const CONSOLE = 'console';
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
const readPort = (variable: string, value: string): number => {
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

interface PortRequest {
  /** Such as `auth` or `auth-internal`. The variable `AUTH_INTERNAL_PORT` sets the latter. */
  readonly names: readonly string[];
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Ports of a stack, which no other stack chooses until they are released. */
interface ClaimedPorts {
  readonly ports: ReadonlyMap<string, number>;
  readonly release: () => void;
}

/**
 * Chooses a free port for each name: the one that is set, otherwise its previous one, otherwise one of a block that is
 * claimed until `release`. Throws StartError.
 */
export const choosePorts = async (request: PortRequest): Promise<ClaimedPorts> => {
  const remembered = readRemembered(request.file);
  const block = await claimPortBlock([...remembered.values()]);
  try {
    const ports = new Map<string, number>();
    for (const name of request.names) {
      ports.set(name, await choosePort(name, { ...request, remembered, taken: ports, block }));
    }
    // A part that is off in this start finds its ports again in a later one.
    const kept = Object.fromEntries([...remembered, ...ports]);
    writeFileAtomically(request.file, `${JSON.stringify(kept, null, 2)}\n`);
    return { ports, release: block.release };
  } catch (error) {
    block.release();
    throw error;
  }
};

const portVariable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_PORT`;

const choosePort = async (
  name: string,
  options: PortRequest & {
    remembered: ReadonlyMap<string, number>;
    taken: ReadonlyMap<string, number>;
    block: PortBlock;
  },
): Promise<number> => {
  const variable = portVariable(name);
  const wanted = options.env[variable];
  if (wanted) {
    const port = readPort(variable, wanted);
    if (await isPortFree(port)) return port;
    throw new StartError(`Port ${port} (${variable}) is taken by another program. Set ${variable} to a free one.`);
  }
  const taken = new Set(options.taken.values());
  const before = options.remembered.get(name);
  if (before !== undefined && !taken.has(before) && (await options.block.isAvailable(before))) return before;
  // Other parts return to their previous ports.
  const others = new Set(options.remembered.values());
  for (const port of options.block.ports) {
    if (!taken.has(port) && !others.has(port) && (await options.block.isAvailable(port))) return port;
  }
  throw new StartError(`No free port was found for ${name}. Set ${variable} to one.`);
};

const readRemembered = (file: string): ReadonlyMap<string, number> => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return new Map();
  const entries = Object.entries(json).filter((entry): entry is [string, number] => Number.isInteger(entry[1]));
  return new Map(entries);
};

export const consoleFolder = ({ servicesDirectory }: Pick<StackSettings, 'servicesDirectory'>): string =>
  join(servicesDirectory, CONSOLE);

export const consolePorts = (settings: Pick<StackSettings, 'servicesDirectory'>): readonly string[] =>
  existsSync(join(consoleFolder(settings), 'src', 'main.ts')) ? [CONSOLE, `${CONSOLE}-internal`] : [];

import { isPortFree, StartError } from '@svc/embedded-servers';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { readPort } from './settings.ts';

/** Below the ephemeral ports of Linux and macOS, so that a restarted process finds its port free. */
const RANGE_START = 20_000;
const RANGE_SIZE = 10_000;
const TRIES_MAX = 200;

export interface PortRequest {
  /** Such as `auth` or `auth-internal`. The variable `AUTH_INTERNAL_PORT` sets the latter. */
  readonly names: readonly string[];
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Chooses a free port for each name: the one that is set, otherwise its previous one, otherwise any. Throws StartError. */
export const choosePorts = async (request: PortRequest): Promise<Map<string, number>> => {
  const remembered = readRemembered(request.file);
  const ports = new Map<string, number>();
  for (const name of request.names) ports.set(name, await choosePort(name, { ...request, remembered, taken: ports }));
  // A part that is off in this start finds its ports again in a later one.
  const kept = Object.fromEntries([...remembered, ...ports]);
  writeFileAtomically(request.file, `${JSON.stringify(kept, null, 2)}\n`);
  return ports;
};

const portVariable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_PORT`;

const choosePort = async (
  name: string,
  options: PortRequest & { remembered: ReadonlyMap<string, number>; taken: ReadonlyMap<string, number> },
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
  if (before !== undefined && !taken.has(before) && (await isPortFree(before))) return before;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = RANGE_START + Math.floor(Math.random() * RANGE_SIZE);
    if (!taken.has(port) && (await isPortFree(port))) return port;
  }
  throw new StartError(`No free port was found for ${name}. Set ${variable} to one.`);
};

const readRemembered = (file: string): ReadonlyMap<string, number> => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return new Map();
  const entries = Object.entries(json).filter((entry): entry is [string, number] => Number.isInteger(entry[1]));
  return new Map(entries);
};

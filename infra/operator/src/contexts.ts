import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ServiceName, serviceNames } from '@svc/contracts';
import { parse } from 'yaml';
import { z } from 'zod';
import { OperatorError } from './operator-error.ts';

/** Time for a password manager to ask its owner for a passphrase. */
const TOKEN_COMMAND_TIMEOUT_MS = 60_000;
/** Permission bits of the file's group and of everyone else. */
const OTHERS = 0o077;

const tokenSchema = z.union(
  [
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ env: z.string().min(1) }),
    z.strictObject({ command: z.array(z.string()).min(1) }),
  ],
  'name a file, an env or a command that holds the credential',
);
const contextSchema = z.union(
  [
    z.strictObject({ data_dir: z.string().min(1) }),
    z.strictObject({
      operator: z.string().min(1).optional(),
      token: tokenSchema,
      urls: z.partialRecord(z.enum(serviceNames), z.url({ protocol: /^https?$/ })),
    }),
  ],
  'has either data_dir, or token and urls',
);
const fileSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
});

/** One environment: a local stack's folder, or addresses and the source of a credential. */
export type Context = z.infer<typeof contextSchema>;

/** Contents of the file of contexts. */
export interface Contexts {
  readonly file: string;
  readonly current?: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

/**
 * Reads the file of contexts: SVC_CONFIG, or `svc/contexts.yaml` in the user's folder for settings. Without the file
 * there are none. Throws OperatorError if it is invalid.
 */
export const readContexts = (env: NodeJS.ProcessEnv): Contexts => {
  const file = env.SVC_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'svc', 'contexts.yaml');
  const text = readIfPresent(file, env.SVC_CONFIG !== undefined);
  if (text === undefined) return { file, contexts: {} };
  const parsed = fileSchema.safeParse(parseYaml(text, file));
  if (parsed.success) return { file, ...parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`);
  throw new OperatorError(`${file} is invalid: ${faults.join('; ')}`);
};

/** Returns the context of a name. Throws OperatorError if there is none. */
const findContext = ({ file, contexts }: Contexts, name: string): Context => {
  const found = contexts[name];
  if (found !== undefined) return found;
  const known = Object.keys(contexts).join(', ') || 'none';
  throw new OperatorError(`there is no context "${name}" in ${file}. Contexts: ${known}.`);
};

/** Reads a context's credential from its source. Throws OperatorError if the source has none. */
const readToken = (
  token: z.infer<typeof tokenSchema>,
  { file, env }: { file: string; env: NodeJS.ProcessEnv },
): string => {
  const read = () => {
    if ('env' in token) return env[token.env] ?? '';
    return 'file' in token ? readTokenFile(pathFrom(file, token.file)) : runTokenCommand(token);
  };
  const value = read().trim();
  if (value === '') throw new OperatorError(`${Object.values(token).flat().join(' ')} has no credential`);
  return value;
};

/** Resolves `~/` and paths relative to the file of contexts. */
const pathFrom = (file: string, path: string): string => resolve(dirname(file), expandHome(path));

const expandHome = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

const readTokenFile = (path: string): string => {
  const text = readIfPresent(path, true) ?? '';
  if ((statSync(path).mode & OTHERS) === 0) return text;
  throw new OperatorError(`${path} can be read by others: chmod 600 ${path}`);
};

const runTokenCommand = ({ command: [program = '', ...args] }: { command: string[] }): string => {
  try {
    const stdio = ['inherit', 'pipe', 'inherit'] as const;
    return execFileSync(program, args, { encoding: 'utf8', timeout: TOKEN_COMMAND_TIMEOUT_MS, stdio: [...stdio] });
  } catch {
    throw new OperatorError(`the command "${program}" gave no credential`);
  }
};

const readIfPresent = (path: string, isNeeded: boolean): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    if (isNeeded) throw new OperatorError(`${path} cannot be read`);
    return undefined;
  }
};

const parseYaml = (text: string, file: string): unknown => {
  try {
    return parse(text);
  } catch {
    throw new OperatorError(`${file} is no YAML`);
  }
};

/** Addresses of the services' internal listeners, the operator's credential and name. */
export interface AddressBook {
  readonly token: string;
  /** Recorded in the audit log: SVC_OPERATOR, the context's name, or the system user. */
  readonly operator: string;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

const variableOf = (service: ServiceName): string => `${service.toUpperCase().replaceAll('-', '_')}_INTERNAL_URL`;

/**
 * Finds the environment to act on. The first of these decides: the named context (`--context`, or SVC_CONTEXT),
 * `<SERVICE>_INTERNAL_URL` with INTERNAL_API_TOKEN, the current context of the file, the local stack in SVC_DATA_DIR
 * (`.local`). Throws OperatorError if none has a credential.
 */
export const readAddressBook = (env: NodeJS.ProcessEnv, named: string | undefined = env.SVC_CONTEXT): AddressBook => {
  const isInEnvironment = serviceNames.some((service) => env[variableOf(service)] !== undefined);
  if (named === undefined && isInEnvironment) return fromEnvironment(env);
  const contexts = readContexts(env);
  const name = named ?? (env.SVC_DATA_DIR === undefined ? contexts.current : undefined);
  return name === undefined ? fromStack(env, env.SVC_DATA_DIR ?? '.local') : fromContext(env, contexts, name);
};

const fromEnvironment = (env: NodeJS.ProcessEnv): AddressBook => {
  const token = env.INTERNAL_API_TOKEN?.trim() ?? '';
  if (token === '') throw new OperatorError(`addresses of services are set, but INTERNAL_API_TOKEN is not`);
  const urls = serviceNames.map((name) => [name, env[variableOf(name)]] as const);
  return bookOf(env, token, urls);
};

const fromContext = (env: NodeJS.ProcessEnv, contexts: Contexts, name: string): AddressBook => {
  const context = findContext(contexts, name);
  if ('data_dir' in context) return fromStack(env, pathFrom(contexts.file, context.data_dir));
  const token = readToken(context.token, { file: contexts.file, env });
  const urls = serviceNames.map((service) => [service, context.urls[service]] as const);
  return bookOf(env, token, urls, context.operator);
};

const fromStack = (env: NodeJS.ProcessEnv, directory: string): AddressBook => {
  const stack = readJson(join(directory, 'stack.json'), 'processes');
  const token = readJson(join(directory, 'secrets.json'), 'OPERATOR_API_TOKEN');
  if (typeof token !== 'string') {
    throw new OperatorError(
      `there is no running stack in ${directory}. Start it, name a context (--context), or set INTERNAL_API_TOKEN and ` +
        `the addresses of the services: ${serviceNames.map(variableOf).join(', ')}.`,
    );
  }
  const urls = serviceNames.map((name) => [name, fieldOf(fieldOf(stack, name), 'internal_url')] as const);
  return bookOf(env, token, urls);
};

const bookOf = (
  env: NodeJS.ProcessEnv,
  token: string,
  urls: readonly (readonly [ServiceName, unknown])[],
  operator?: string,
): AddressBook => ({
  token,
  operator: env.SVC_OPERATOR ?? operator ?? userInfo().username,
  urls: Object.fromEntries(urls.filter((each): each is readonly [ServiceName, string] => typeof each[1] === 'string')),
});

const readJson = (file: string, field: string): unknown => {
  try {
    return fieldOf(JSON.parse(readFileSync(file, 'utf8')), field);
  } catch {
    return undefined;
  }
};

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type ServiceName, serviceNames } from '@svc/contracts';
import { type Contexts, findContext, pathFrom, readContexts, readToken } from './contexts.ts';
import { OperatorError } from './operator-error.ts';

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

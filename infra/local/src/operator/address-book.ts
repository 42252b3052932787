import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type ServiceName, serviceNames } from '@svc/contracts';

/** Addresses of the services' internal listeners, the operator's credential and name. */
export interface AddressBook {
  readonly token: string;
  /** Recorded in the audit log: SVC_OPERATOR, or the system user. */
  readonly operator: string;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** Thrown if a command cannot be carried out; the message names the remedy. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

const variableOf = (service: ServiceName): string => `${service.toUpperCase().replaceAll('-', '_')}_INTERNAL_URL`;

/**
 * Reads `<SERVICE>_INTERNAL_URL` and INTERNAL_API_TOKEN, which are the services' variables. Unset ones come from the
 * local stack in SVC_DATA_DIR (`.local`). Throws OperatorError without a credential.
 */
export const readAddressBook = (env: NodeJS.ProcessEnv): AddressBook => {
  const directory = env.SVC_DATA_DIR ?? '.local';
  const local = serviceNames.some((name) => env[variableOf(name)] !== undefined) ? undefined : readLocal(directory);
  const token = env.INTERNAL_API_TOKEN?.trim() || local?.token;
  if (token === undefined) {
    throw new OperatorError(
      `there is no running stack in ${directory}, and INTERNAL_API_TOKEN is not set. Start the stack, or set it and ` +
        `the addresses of the services: ${serviceNames.map(variableOf).join(', ')}.`,
    );
  }
  const urls = serviceNames.map((name) => [name, env[variableOf(name)] ?? local?.urls[name]] as const);
  const operator = env.SVC_OPERATOR ?? userInfo().username;
  return { token, operator, urls: Object.fromEntries(urls.filter(([, url]) => url !== undefined)) };
};

const readLocal = (directory: string): Omit<AddressBook, 'operator'> | undefined => {
  try {
    const stack = readJson(join(directory, 'stack.json'), 'processes');
    const token = readJson(join(directory, 'secrets.json'), 'OPERATOR_API_TOKEN');
    const urls = serviceNames.map((name) => [name, fieldOf(fieldOf(stack, name), 'internal_url')] as const);
    return typeof token === 'string' ? { token, urls: Object.fromEntries(urls) } : undefined;
  } catch {
    return undefined;
  }
};

const readJson = (file: string, field: string): unknown => fieldOf(JSON.parse(readFileSync(file, 'utf8')), field);

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;

import { hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { InternalCaller } from '@svc/contracts';
import { StartError } from '@svc/testing/servers';
import { readJsonFile, writeFileAtomically } from './data-directory.ts';

const prefixes = {
  auth: 'AUTH',
  billing: 'BILLING',
  'inference-gateway': 'INFERENCE_GATEWAY',
  'webhook-dispatcher': 'WEBHOOK_DISPATCHER',
  operator: 'OPERATOR',
} as const satisfies Record<InternalCaller, string>;

/** Returns the prefix of a service's variables, such as `INFERENCE_GATEWAY`. */
export const variablePrefix = <const C extends InternalCaller>(caller: C): (typeof prefixes)[C] => prefixes[caller];

const hex = (): string => randomBytes(32).toString('hex');
/** Begins with a letter: nats.js takes digits behind the colon of a URL for a port. */
const natsPassword = (): string => `nats_${hex()}`;
const base64 = (): string => randomBytes(32).toString('base64');

/** Generators of all secrets, by the name of the variable if a service reads the secret unchanged. */
const makers = {
  AUTH_API_TOKEN: () => `auth:${hex()}`,
  BILLING_API_TOKEN: () => `billing:${hex()}`,
  INFERENCE_GATEWAY_API_TOKEN: () => `inference-gateway:${hex()}`,
  WEBHOOK_DISPATCHER_API_TOKEN: () => `webhook-dispatcher:${hex()}`,
  OPERATOR_API_TOKEN: () => `operator:${hex()}`,
  AUTH_ENCRYPTION_KEY: base64,
  WEBHOOK_ENCRYPTION_KEY: base64,
  API_KEY_PEPPER: base64,
  RECEIPT_KEY_SECRET: base64,
  PROVENANCE_KEY_SECRET: base64,
  SANDBOX_PROVIDER_KEY: hex,
  POSTGRES_PASSWORD: hex,
  AUTH_DATABASE_PASSWORD: hex,
  BILLING_DATABASE_PASSWORD: hex,
  INFERENCE_GATEWAY_DATABASE_PASSWORD: hex,
  WEBHOOK_DISPATCHER_DATABASE_PASSWORD: hex,
  AUTH_NATS_PASSWORD: natsPassword,
  BILLING_NATS_PASSWORD: natsPassword,
  INFERENCE_GATEWAY_NATS_PASSWORD: natsPassword,
  WEBHOOK_DISPATCHER_NATS_PASSWORD: natsPassword,
  OPERATOR_NATS_PASSWORD: natsPassword,
} as const;

export type Secrets = Readonly<Record<keyof typeof makers, string>>;

export interface SecretsLocation {
  readonly file: string;
  /** The database cluster. Without its secrets it can neither be entered nor decrypted. */
  readonly cluster: string;
}

/** Reads the secrets of a data directory, and generates missing ones. Throws StartError if they were lost. */
export const loadSecrets = ({ file, cluster }: SecretsLocation): Secrets => {
  const known = readKnown(file);
  if (known === undefined && existsSync(cluster)) {
    throw new StartError(
      `${file} is missing or unreadable, but ${cluster} was created with it. Put it back, or delete the data directory to start empty.`,
    );
  }
  const secrets = Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, known?.get(name) ?? make()]));
  if (Object.keys(makers).some((name) => !known?.has(name))) {
    writeFileAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`);
  }
  // Built above from the very names of the type.
  return secrets as Secrets;
};

/** Returns the credential that a caller presents to internal routes. */
export const apiTokenOf = (secrets: Secrets, caller: InternalCaller): string =>
  secrets[`${variablePrefix(caller)}_API_TOKEN`];

/** Returns the digest by which services accept a credential: they can check it, but not use it. */
export const digestOf = (apiToken: string): string => {
  const [caller, secret = ''] = apiToken.split(':');
  return `${caller}:sha256:${hash('sha256', secret, 'hex')}`;
};

const readKnown = (file: string): ReadonlyMap<string, string> | undefined => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return undefined;
  return new Map(Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
};

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { StartError } from './start-error.ts';

const hex = (): string => randomBytes(32).toString('hex');
const base64 = (): string => randomBytes(32).toString('base64');

/** Every secret of the stack, and how it is made. Names are those of the variables that services read, where they read them. */
const makers = {
  INTERNAL_API_TOKEN: hex,
  AUTH_ENCRYPTION_KEY: base64,
  WEBHOOK_ENCRYPTION_KEY: base64,
  API_KEY_PEPPER: base64,
  SANDBOX_PROVIDER_KEY: hex,
  POSTGRES_PASSWORD: hex,
  AUTH_DATABASE_PASSWORD: hex,
  BILLING_DATABASE_PASSWORD: hex,
  INFERENCE_GATEWAY_DATABASE_PASSWORD: hex,
  WEBHOOK_DISPATCHER_DATABASE_PASSWORD: hex,
} as const;

/** The secrets of one data directory. */
export type Secrets = Readonly<Record<keyof typeof makers, string>>;

/** Where secrets are kept, and what was made with them. */
export interface SecretsLocation {
  file: string;
  /** The database cluster: without its secrets it can neither be entered nor deciphered. */
  cluster: string;
}

/** Reads the secrets of a data directory; makes those that are missing, once. Throws StartError where they were lost. */
export const loadSecrets = ({ file, cluster }: SecretsLocation): Secrets => {
  const known = readKnown(file);
  if (known === undefined && existsSync(cluster)) {
    throw new StartError(
      `${file} is missing or unreadable, but ${cluster} was made with it. Put it back, or delete the data directory to start empty.`,
    );
  }
  const secrets = Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, known?.get(name) ?? make()]));
  if (Object.keys(makers).some((name) => !known?.has(name))) {
    writeFileAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`);
  }
  // Built from the very names of the type, one line above.
  return secrets as Secrets;
};

const readKnown = (file: string): ReadonlyMap<string, string> | undefined => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return undefined;
  return new Map(Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
};

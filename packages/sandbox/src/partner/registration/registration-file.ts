import { readFileSync } from 'node:fs';
import { writePrivateFile } from '../private-file.ts';

/** Credentials of the business that owns the app. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The registered app. */
export interface AppRecord {
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * Time of the last rotation as the service reports it, null before the first. A different value means that the owner
   * has rotated the secret since.
   */
  readonly secretRotatedAt: string | null;
}

/** The configured webhook. */
export interface WebhookRecord {
  readonly clientId: string;
  readonly generation: number;
  readonly signingSecret: string;
}

/** All state that must survive a restart. Parts are added as they become known. */
export interface RegistrationRecord {
  readonly credentials?: Credentials | undefined;
  readonly app?: AppRecord | undefined;
  readonly webhook?: WebhookRecord | undefined;
  /** Client id of the command-line twin. */
  readonly terminalClientId?: string | undefined;
}

export interface RegistrationFile {
  readonly read: () => RegistrationRecord;
  /** Replaces the given parts. */
  readonly write: (parts: RegistrationRecord) => void;
}

/** Stores the registration in a file that only its owner can read. Unreadable parts count as unknown. */
export const openRegistrationFile = (path: string): RegistrationFile => {
  let record = readRecord(path);
  return {
    read: () => record,
    write: (parts) => {
      record = { ...record, ...parts };
      writePrivateFile(path, `${JSON.stringify(record, null, 2)}\n`);
    },
  };
};

const readRecord = (path: string): RegistrationRecord => {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
  return {
    credentials: readCredentials(readField(json, 'credentials')),
    app: readApp(readField(json, 'app')),
    webhook: readWebhook(readField(json, 'webhook')),
    terminalClientId: readTerminal(readField(json, 'terminalClientId')),
  };
};

const readTerminal = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const readCredentials = (value: unknown): Credentials | undefined => {
  const email = readField(value, 'email');
  const password = readField(value, 'password');
  return typeof email === 'string' && typeof password === 'string' ? { email, password } : undefined;
};

const readApp = (value: unknown): AppRecord | undefined => {
  const clientId = readField(value, 'clientId');
  const clientSecret = readField(value, 'clientSecret');
  const secretRotatedAt = readField(value, 'secretRotatedAt');
  if (typeof clientId !== 'string' || typeof clientSecret !== 'string') return undefined;
  if (typeof secretRotatedAt !== 'string' && secretRotatedAt !== null) return undefined;
  return { clientId, clientSecret, secretRotatedAt };
};

const readWebhook = (value: unknown): WebhookRecord | undefined => {
  const clientId = readField(value, 'clientId');
  const signingSecret = readField(value, 'signingSecret');
  const generation = readField(value, 'generation');
  if (typeof clientId !== 'string' || typeof signingSecret !== 'string') return undefined;
  return typeof generation === 'number' ? { clientId, generation, signingSecret } : undefined;
};

/** Returns a field of a value that may be an object. */
export const readField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;

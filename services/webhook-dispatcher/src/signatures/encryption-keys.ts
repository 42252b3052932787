import { hash } from 'node:crypto';

/** An AES-256 key and the id under which rows refer to it. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

const KEY_BYTES = 32;
const DERIVED_ID_CHARACTERS = 8;
const ENTRY = /^(?:([A-Za-z0-9_.-]{1,32}):)?([A-Za-z0-9+/_-]+={0,2})$/;

/**
 * Parses `[id:]key` entries, whose keys are 32 bytes in base64 or hex. Derives a missing id from the key. The first key encrypts,
 * each one decrypts. Throws TypeError, which never quotes an entry.
 */
export const parseEncryptionKeys = (entries: readonly string[]): readonly [EncryptionKey, ...EncryptionKey[]] => {
  const [first, ...others] = entries.map(parseEntry);
  if (first === undefined) throw new TypeError('expected at least one encryption key');
  const ids = new Set([first, ...others].map(({ id }) => id));
  if (ids.size !== entries.length) throw new TypeError('expected a different id for each encryption key');
  return [first, ...others];
};

const parseEntry = (entry: string): EncryptionKey => {
  const [, id, text = ''] = ENTRY.exec(entry.trim()) ?? [];
  const key = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (key.length !== KEY_BYTES) throw new TypeError(`expected [id:]key with ${KEY_BYTES} bytes in base64 or hex`);
  return { id: id ?? hash('sha256', key, 'hex').slice(0, DERIVED_ID_CHARACTERS), key };
};

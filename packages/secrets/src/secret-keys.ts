import { hkdfSync } from 'node:crypto';
import { setting } from '@svc/service-kit';

/** Bytes of the id that every stored value begins with. */
export const KEY_ID_BYTES = 8;

const KEY_BYTES = 32;
const ENTRY = /^(?:[A-Za-z0-9_.-]{1,32}:)?([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/;

/** One key of a list. It is never used directly; only derived keys are. */
export interface SecretKey {
  /** Derived from the key, so that it is found under any name, and a wrong key is noticed. */
  readonly id: Buffer;
  /** Derives a 32-byte key for one purpose (RFC 5869). */
  readonly derive: (purpose: string) => Buffer;
}

/** Keys of one setting. The first one writes; each of them reads. */
export interface SecretKeys {
  readonly setting: string;
  readonly current: SecretKey;
  readonly all: readonly [SecretKey, ...SecretKey[]];
}

/** Setting that holds a list of keys: `[name:]key`. The name is for people; nothing depends on it. */
export const secretKeysSetting = ({ description }: { readonly description: string }) =>
  setting.list({
    description: `${description} A list of \`[name:]key\`: the first key writes, each of them reads.`,
    itemsMin: 1,
    itemPattern: ENTRY,
    itemExpected: '[name:]key with 32 random bytes in hex or base64',
    secret: true,
  });

/** Opens the keys of a setting that `secretKeysSetting` has parsed. Throws TypeError, which never quotes an entry. */
export const openSecretKeys = (name: string, entries: readonly string[]): SecretKeys => {
  const [current, ...others] = entries.map((entry) => openKey(name, entry));
  if (current === undefined) throw new TypeError(`${name} has no key`);
  return { setting: name, current, all: [current, ...others] };
};

const openKey = (name: string, entry: string): SecretKey => {
  const text = ENTRY.exec(entry.trim())?.[1] ?? '';
  const master = Buffer.from(text, text.length === 2 * KEY_BYTES ? 'hex' : 'base64');
  if (master.length !== KEY_BYTES) throw new TypeError(`a key of ${name} does not have ${KEY_BYTES} bytes`);
  const expand = (info: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), info, bytes));
  return { id: expand('svc:key-id', KEY_ID_BYTES), derive: (purpose) => expand(`svc:${purpose}`, KEY_BYTES) };
};

/** The derived keys of one purpose, by the hexadecimal id of their master keys. The current one is first. */
export const deriveAll = ({ all }: SecretKeys, purpose: string): ReadonlyMap<string, Buffer> =>
  new Map(all.map((key) => [key.id.toString('hex'), key.derive(purpose)]));

/** Returns the id at the start of a stored value. */
export const keyIdOf = (stored: Buffer): string => stored.subarray(0, KEY_ID_BYTES).toString('hex');

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A provider's key, or why there is none; the fault never quotes a key. */
export type ProviderKey = { readonly value: string } | { readonly fault: string };

/** Reads the key that a variable of this name holds, the file that `<name>_FILE` names, or the file `<name>` in `PROVIDER_KEYS_DIR`. */
export type ReadProviderKey = (name: string) => ProviderKey;

const KEY_BYTES_MAX = 16 * 1024;
/** What may stand in a header behind `Bearer `. */
const KEY = /^[\x21-\x7e]+$/;

/**
 * Reads keys from an environment and from the files that it names. A file is read each time, so that a key is rotated by
 * writing the file and reloading; blanks and line ends around the key do not count.
 */
export const providerKeysFrom =
  (environment: Readonly<Record<string, string | undefined>>): ReadProviderKey =>
  (name) => {
    const value = environment[name] ?? '';
    const file = environment[`${name}_FILE`] ?? '';
    if (value !== '' && file !== '') return { fault: `both ${name} and ${name}_FILE are set` };
    if (file !== '') return keyInFile(`${name}_FILE`, file);
    const directory = environment['PROVIDER_KEYS_DIR'] ?? '';
    if (value === '' && directory !== '') return keyInFile(`${name} in PROVIDER_KEYS_DIR`, join(directory, name));
    return value === '' ? { fault: `the variable ${name} is not set, nor is ${name}_FILE` } : asKey(name, value);
  };

const keyInFile = (name: string, file: string): ProviderKey => {
  try {
    const found = statSync(file);
    // A folder has a size too.
    if (found.isFile() && found.size > KEY_BYTES_MAX) return { fault: `the file of ${name} is too large for a key` };
    return asKey(`the file of ${name}`, readFileSync(file, 'utf8').trim());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { fault: `the file of ${name} cannot be read (${code})` };
  }
};

const asKey = (source: string, value: string): ProviderKey =>
  KEY.test(value) ? { value } : { fault: `${source} holds no key: one word of printable ASCII is wanted` };

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A provider's key, or a fault that does not quote it. */
export type ProviderKey = { readonly value: string } | { readonly fault: string };

/** Reads a key from the variable `<name>`, the file at `<name>_FILE`, or the file `<name>` in `PROVIDER_KEYS_DIR`. */
export type ReadProviderKey = (name: string) => ProviderKey;

const KEY_BYTES_MAX = 16 * 1024;
/** Valid after `Bearer ` in a header. */
const KEY = /^[\x21-\x7e]+$/;

/**
 * Creates a reader of keys in an environment and in the files that it names. Files are read on each call, so that writing
 * the file and reloading rotates a key. Surrounding whitespace is ignored.
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
    // Directories have a size too.
    if (found.isFile() && found.size > KEY_BYTES_MAX) return { fault: `the file of ${name} is too large for a key` };
    return asKey(`the file of ${name}`, readFileSync(file, 'utf8').trim());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { fault: `the file of ${name} cannot be read (${code})` };
  }
};

const asKey = (source: string, value: string): ProviderKey =>
  KEY.test(value) ? { value } : { fault: `${source} holds no key: expected one word of printable ASCII` };

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { providerKeysFrom } from './read-provider-key.ts';

let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'provider-key-'));
  file = join(directory, 'key');
});
afterAll(() => rm(directory, { recursive: true }));

const faultOf = (environment: Record<string, string>): string => {
  const key = providerKeysFrom(environment)('A_KEY');
  return 'fault' in key ? key.fault : '';
};

describe('reads a key', () => {
  test('from its variable', () => {
    expect(providerKeysFrom({ A_KEY: 'sesame', A_KEY_FILE: '' })('A_KEY')).toEqual({ value: 'sesame' });
  });

  test('from the current content of its file, without the line end', async () => {
    const read = providerKeysFrom({ A_KEY: '', A_KEY_FILE: file });
    for (const value of ['first', 'second']) {
      await writeFile(file, `${value}\r\n`);
      expect(read('A_KEY')).toEqual({ value });
    }
  });
});

test('reads a key from PROVIDER_KEYS_DIR unless its variable is set', async () => {
  await writeFile(join(directory, 'A_KEY'), 'sesame\n');
  expect(providerKeysFrom({ PROVIDER_KEYS_DIR: directory })('A_KEY')).toEqual({ value: 'sesame' });
  expect(providerKeysFrom({ PROVIDER_KEYS_DIR: directory, A_KEY: 'other' })('A_KEY')).toEqual({ value: 'other' });
  expect(faultOf({ PROVIDER_KEYS_DIR: '/nowhere' })).toContain('A_KEY in PROVIDER_KEYS_DIR cannot be read (ENOENT)');
});

describe('reports a fault for', () => {
  test.each([
    ['neither variable', {}, 'A_KEY is not set, nor is A_KEY_FILE'],
    ['an empty variable', { A_KEY: '' }, 'A_KEY is not set, nor is A_KEY_FILE'],
    ['both variables', { A_KEY: 'sesame', A_KEY_FILE: '/nowhere' }, 'both A_KEY and A_KEY_FILE are set'],
    ['a missing file', { A_KEY_FILE: '/nowhere' }, 'the file of A_KEY_FILE cannot be read (ENOENT)'],
    ['a folder', { A_KEY_FILE: tmpdir() }, 'the file of A_KEY_FILE cannot be read (EISDIR)'],
    ['a value that is invalid in a header', { A_KEY: 'open sesame' }, 'A_KEY holds no key'],
  ])('%s', (_name, environment, fault) => {
    expect(faultOf(environment)).toContain(fault);
  });

  test.each([
    ['an empty file', ' \n', 'holds no key'],
    ['two lines', 'first\nsecond\n', 'holds no key'],
    ['a large file', 'x'.repeat(20_000), 'too large'],
  ])('%s', async (_name, content, fault) => {
    await writeFile(file, content);
    expect(faultOf({ A_KEY_FILE: file })).toContain(fault);
    expect(faultOf({ A_KEY_FILE: file })).not.toContain('first');
  });
});

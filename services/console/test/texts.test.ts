import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { en } from '../src/web/i18n/en/index.ts';

const WEB = join(import.meta.dirname, '../src/web');
/** A name of several words. A page reads it as it stands, while it composes the others from the contract's values. */
const COMPOUND_NAME = /^[a-z]+[A-Z]\w+$/;

const namesOf = (messages: object): string[] =>
  Object.entries(messages).flatMap(([name, inner]) => [name, ...(typeof inner === 'object' ? namesOf(inner) : [])]);

/** Returns the sources of all pages, without the texts. */
const readPages = (): string =>
  readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('i18n'))
    .map((file) => readFileSync(join(WEB, file), 'utf8'))
    .join('\n');

test('every text with a compound name is used by a page', () => {
  const { serviceFaults, ...texts } = en;
  const used = new Set(readPages().match(/\w+/g));
  expect(namesOf(texts).filter((name) => COMPOUND_NAME.test(name) && !used.has(name))).toEqual([]);
});

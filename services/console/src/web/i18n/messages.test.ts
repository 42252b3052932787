import { describe, expect, test } from 'vitest';
import { chooseLocale } from './choose-locale.ts';
import { en } from './en/index.ts';
import { it as italian } from './it/index.ts';

/** Paths of all texts; where a text is made, what it is made of is given. */
const textsOf = (value: unknown, path = ''): [string, string][] => {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, String(value(2, 'b'))]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`));
};

/** Fixed names, and what has no text in either language. */
const SAME_IN_BOTH = /\.(locales|product|tabs|copied)|^\.plans\.statusHelp/;

describe('texts', () => {
  test('exist in both languages', () => {
    const paths = (messages: object) =>
      textsOf(messages)
        .map(([path]) => path)
        .filter((path) => !path.startsWith('.serviceFaults'));
    expect(paths(italian)).toEqual(paths(en));
  });

  test('are not empty', () => {
    for (const [path, text] of [...textsOf(en), ...textsOf(italian)]) {
      if (!SAME_IN_BOTH.test(path)) expect(text, path).not.toBe('');
    }
  });

  test('translate every text of the services about English values', () => {
    expect(Object.keys(italian.serviceFaults)).toEqual(expect.arrayContaining(Object.keys(en.serviceFaults)));
  });
});

describe('the language', () => {
  test.each([
    [{ chosen: 'en', account: 'it', browser: ['it-IT'] }, 'en'],
    [{ chosen: undefined, account: 'it', browser: ['en-GB'] }, 'it'],
    [{ chosen: 'fr', account: undefined, browser: ['de-DE', 'en-US', 'it'] }, 'en'],
    [{ chosen: undefined, account: undefined, browser: ['de'] }, 'it'],
  ] as const)('by %o is %s', (hints, locale) => {
    expect(chooseLocale(hints)).toBe(locale);
  });
});

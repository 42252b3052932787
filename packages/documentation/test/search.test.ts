import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type FindSections, loadSections } from '../client/find-sections.ts';
import { buildDocumentation } from '../src/index.ts';

const docsDirectory = fileURLToPath(new URL('../../../docs/', import.meta.url));

describe('the search', () => {
  const search = new Map<string, FindSections>();

  beforeAll(async () => {
    const files = await buildDocumentation({ docsDirectory, environment: process.env });
    for (const language of ['en', 'it']) {
      const [, list] = [...files].find(([path]) => path.startsWith(`assets/docs-search-${language}-`)) ?? [];
      const encoded = Buffer.from(String(list)).toString('base64');
      search.set(language, await loadSections(`data:application/json;base64,${encoded}`));
    }
  });

  const addressesOf = (language: string, words: string) =>
    search
      .get(language)?.(words)
      .map(({ a }) => a) ?? [];

  test.each([
    ['a heading', 'en', 'signature secret', '/docs/receive-webhooks#without-the-sdk'],
    ['a code of an error', 'en', 'upstream_timeout_uncertain', '/docs/errors#upstream_timeout_uncertain'],
    ['a word with another ending', 'en', 'streaming', '/docs/stream'],
    ['a mistyped name', 'en', 'createConector', '/docs/sdk#createconnector'],
    ['a word without its accent', 'it', 'perche', '/docs/it/'],
    ['any word if no section has all', 'it', 'perche limite zebra', '/docs/it/'],
  ])('finds %s in %s', (_what, language, words, address) => {
    expect(addressesOf(language, words)).toContainEqual(expect.stringContaining(address));
  });

  test('finds nothing for words that no page has', () => {
    expect(addressesOf('en', 'xylophone')).toEqual([]);
  });

  test('lists at most six sections of an area, and three of a page', () => {
    const found = search.get('en')?.('webhook') ?? [];
    const guides = found.filter(({ g }) => g === 'guides');
    expect(guides).toHaveLength(6);
    expect(guides.filter(({ p }) => p === 'Receive webhooks').length).toBeLessThanOrEqual(3);
  });
});

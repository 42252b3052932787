import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readCodeBlocks } from '../src/index.ts';

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));

const guidesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort();

/** Returns the levels of a guide's headings, in order. */
const outlineOf = (markdown: string): number[] =>
  [...markdown.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/^(#+) /gm)].map(([, marks = '']) => marks.length);

/** Returns a guide's blocks of code. The reason why one is not run is prose, so it is translated. */
const blocksOf = (markdown: string) =>
  readCodeBlocks(markdown).map(({ role, ...block }) => ({
    ...block,
    role: role?.kind === 'not-run' ? { kind: role.kind } : role,
  }));

describe('the guides in Italian', () => {
  test('exist for every English guide and for no other', () => {
    expect(guidesIn(join(GUIDES, 'it'))).toEqual(guidesIn(GUIDES));
  });

  test.each(guidesIn(GUIDES))('have the sections and the code of the English guide: %s', (name) => {
    const english = readFileSync(join(GUIDES, name), 'utf8');
    const italian = readFileSync(join(GUIDES, 'it', name), 'utf8');
    expect(outlineOf(italian)).toEqual(outlineOf(english));
    expect(blocksOf(italian)).toEqual(blocksOf(english));
  });
});

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

/** Returns the arrows of a diagram, without its words. */
const arrowsOf = (diagram: string): string[] =>
  [...diagram.matchAll(/^\s*(\w+)\s*(--?>>)\s*(\w+):/gm)].map((parts) => parts.slice(1).join(''));

/** Returns a guide's blocks of code. Reasons why one is not run and the words of diagrams are translated. */
const blocksOf = (markdown: string) =>
  readCodeBlocks(markdown).map(({ role, code, ...block }) => {
    if (role?.kind === 'diagram') return { ...block, role: role.kind, code: arrowsOf(code) };
    return { ...block, role: role?.kind === 'not-run' ? role.kind : role, code };
  });

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

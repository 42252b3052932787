import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FONT_FILES, FONT_VERSION } from './fonts.ts';
import { readFonts } from './read-fonts.ts';

test.each([...new Set(FONT_FILES.map(({ packageName }) => packageName))])(
  'names the installed version of %s',
  (name) => {
    const manifest = readFileSync(fileURLToPath(import.meta.resolve(`${name}/package.json`)), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ version: FONT_VERSION, license: 'OFL-1.1' });
  },
);

test('reads every font as WOFF2, with the license', () => {
  const fonts = readFonts();
  for (const { path } of FONT_FILES) expect(fonts.get(path)?.toString('latin1', 0, 4), path).toBe('wOF2');
  expect(fonts.get('/assets/fonts-license.txt')?.toString()).toContain('SIL OPEN FONT LICENSE');
});

test.each(FONT_FILES)('covers the letters that its package covers: $path', ({ packageName, file, unicodeRange }) => {
  const ranges: unknown = JSON.parse(
    readFileSync(fileURLToPath(import.meta.resolve(`${packageName}/unicode.json`)), 'utf8'),
  );
  const subset = file.includes('latin-ext') ? 'latin-ext' : 'latin';
  expect(ranges).toMatchObject({ [subset]: unicodeRange });
});

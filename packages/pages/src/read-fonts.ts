import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FONT_FILES } from './fonts.ts';

/** Reads the files of the fonts from their packages, by path on the site, with the license that must go with them. */
export const readFonts = (): ReadonlyMap<string, Buffer> => {
  const read = (specifier: string): Buffer => readFileSync(fileURLToPath(import.meta.resolve(specifier)));
  const files = FONT_FILES.map(({ path, packageName, file }) => [path, read(`${packageName}/files/${file}`)] as const);
  return new Map([...files, ['/assets/fonts-license.txt', read('@fontsource-variable/geist/LICENSE')]]);
};

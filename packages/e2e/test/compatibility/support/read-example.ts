import { readFileSync } from 'node:fs';

/** Returns the part of a module of the tests between `// #region example` and `// #endregion`, moved to the left margin. */
export const readExample = (source: string): string => {
  const text = readFileSync(new URL(`../${source}.ts`, import.meta.url), 'utf8');
  const region = /^( *)\/\/ #region example\n(.*?)^ *\/\/ #endregion$/ms.exec(text);
  if (region === null) throw new Error(`${source}.ts marks no example`);
  const [, indent = '', lines = ''] = region;
  return lines
    .split('\n')
    .filter((line) => !line.includes('biome-ignore'))
    .map((line) => line.slice(indent.length))
    .join('\n')
    .trimEnd();
};

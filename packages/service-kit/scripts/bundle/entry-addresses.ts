import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';

const OWN_ADDRESS = /\bimport\.meta\.(?:url|dirname|filename)\b/;

/**
 * Refuses modules that ask where they are, unless they lie beside an entry: inside a bundle they are told the entry's
 * place.
 */
export const entryAddresses = (entries: readonly string[]): Plugin => ({
  name: 'entry-addresses',
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (entries.some((entry) => dirname(entry) === dirname(path))) return undefined;
      const contents = await readFile(path, 'utf8');
      if (!OWN_ADDRESS.test(contents)) return { contents, loader: 'ts' };
      const text = `${path} asks for its own address (import.meta), which is the bundle's in production: ask in a module directly in src/, and pass the path on.`;
      return { errors: [{ text }] };
    });
  },
});

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';

const OWN_ADDRESS = /\bimport\.meta\.(?:url|dirname|filename)\b/;

/**
 * Rejects modules that read `import.meta`, unless they lie beside an entry: a bundled module sees the entry's address.
 */
export const entryAddresses = (entries: readonly string[]): Plugin => ({
  name: 'entry-addresses',
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (entries.some((entry) => dirname(entry) === dirname(path))) return undefined;
      const contents = await readFile(path, 'utf8');
      if (!OWN_ADDRESS.test(contents)) return { contents, loader: 'ts' };
      const text = `${path} reads import.meta, which is the bundle's address in production: read it in a module directly in src/ and pass the path on.`;
      return { errors: [{ text }] };
    });
  },
});

import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const OWN_ADDRESS = /\bimport\.meta\.(?:url|dirname|filename)\b/;

/** Refuses modules that ask where they are, unless they are entries: inside a bundle they are told the bundle's place. */
export const entryAddresses = (entries: readonly string[]): Plugin => ({
  name: 'entry-addresses',
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (entries.includes(path)) return undefined;
      const contents = await readFile(path, 'utf8');
      if (!OWN_ADDRESS.test(contents)) return { contents, loader: 'ts' };
      const text = `${path} asks for its own address (import.meta), which is the bundle's in production: pass the path in from src/main.ts.`;
      return { errors: [{ text }] };
    });
  },
});

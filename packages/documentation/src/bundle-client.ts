import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type OutputFile } from 'esbuild';

/** Scripts and styles of the pages. */
export interface ClientBundle {
  /** Blocks the first paint; applies remembered choices. */
  readonly earlyScript: string;
  readonly script: string;
  readonly stylesheet: string;
  /** All files by path below the site's root, including parts that the script loads later. */
  readonly files: ReadonlyMap<string, string>;
}

/** Bundles the scripts and styles. The names of the files contain their digests. */
export const bundleClient = async (): Promise<ClientBundle> => {
  const built = await Promise.all([
    // A script that blocks the first paint cannot be a module, hence shares no part with one.
    bundle({ 'docs-early': '../client/early.ts' }, { format: 'iife' }),
    bundle({ 'docs-main': '../client/main.ts' }, { format: 'esm', splitting: true }),
    bundle({ 'docs-style': '../style/docs.css' }, {}),
  ]);
  const files = new Map(built.flat().map(({ path, text }) => [`assets/${basename(path)}`, text]));
  const pathOf = (name: string): string => `/${[...files.keys()].find((path) => path.includes(name)) ?? ''}`;
  return {
    earlyScript: pathOf('docs-early-'),
    script: pathOf('docs-main-'),
    stylesheet: pathOf('docs-style-'),
    files,
  };
};

const bundle = async (
  entries: Readonly<Record<string, string>>,
  options: Pick<BuildOptions, 'format' | 'splitting'>,
): Promise<readonly OutputFile[]> => {
  const { outputFiles } = await build({
    ...options,
    entryPoints: Object.entries(entries).map(([out, file]) => ({
      in: fileURLToPath(new URL(file, import.meta.url)),
      out,
    })),
    bundle: true,
    minify: true,
    write: false,
    outdir: 'assets',
    external: ['/assets/*.woff2'],
    entryNames: '[name]-[hash]',
    chunkNames: 'docs-part-[hash]',
    target: 'es2023',
    logLevel: 'silent',
  });
  return outputFiles;
};

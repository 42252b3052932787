import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PATHS = ['../client/early.ts', '../client/main.ts', '../style/docs.css'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** Script and styles of every page. */
export interface ClientBundle {
  /** Blocks the first paint; applies remembered choices. */
  readonly earlyScript: string;
  readonly script: string;
  readonly stylesheet: string;
}

export const bundleClient = async (): Promise<ClientBundle> => {
  const { outputFiles } = await build({
    entryPoints: PATHS,
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    external: ['/assets/*.woff2'],
    entryNames: '[name]',
    format: 'esm',
    target: 'es2023',
    logLevel: 'silent',
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { earlyScript: textOf('early.js'), script: textOf('main.js'), stylesheet: textOf('docs.css') };
};

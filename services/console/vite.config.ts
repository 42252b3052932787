import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildDocumentation } from '@svc/documentation';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.md', '.svg', '.txt']);
const PAGES = new Set(['.html', '.md']);
/** A fortieth of the time of the best quality for 13 % more bytes. There are hundreds of pages, and a start waits for them. */
const PAGE_QUALITY = 7;
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));

/** Leaves `.br` and `.gz` beside every text file, so that the server compresses nothing while it serves. */
const compress = (): Plugin => {
  let directory = '';
  return {
    name: 'compress',
    apply: 'build',
    configResolved: ({ root, build }) => {
      directory = resolve(root, build.outDir);
    },
    closeBundle: async () => {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true });
      const files = entries.filter((item) => item.isFile() && COMPRESSED.has(extname(item.name)));
      await Promise.all(files.map(({ parentPath, name }) => compressFile(join(parentPath, name))));
    },
  };
};

const compressFile = async (file: string): Promise<void> => {
  const plain = await readFile(file);
  const isPage = PAGES.has(extname(file));
  const params = { [constants.BROTLI_PARAM_QUALITY]: isPage ? PAGE_QUALITY : constants.BROTLI_MAX_QUALITY };
  await Promise.all([
    promisify(brotliCompress)(plain, { params }).then((bytes) => writeFile(`${file}.br`, bytes)),
    promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }).then((bytes) => writeFile(`${file}.gz`, bytes)),
  ]);
};

/** Adds the documentation below `docs/`, built from the repository's Markdown and from the contract. */
const documentation = (): Plugin => ({
  name: 'documentation',
  apply: 'build',
  generateBundle: async function () {
    // biome-ignore lint/style/noProcessEnv: The build of the SDK finds its programs as this one was found.
    const environment = process.env;
    for (const [fileName, source] of await buildDocumentation({ docsDirectory: DOCS, environment })) {
      this.emitFile({ type: 'asset', fileName, source });
    }
  },
});

// biome-ignore lint/style/noDefaultExport: Vite takes its configuration from the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [documentation(), compress()],
  build: {
    outDir: 'dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Inline data would need its own exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      onLog: (level, log, handle) => {
        // Libraries mark their modules for server rendering, which there is none of here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
});

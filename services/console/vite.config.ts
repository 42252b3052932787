import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildDocumentation } from '@svc/documentation';
import { TEXT_FONT } from '@svc/pages';
import { readFonts } from '@svc/pages/read-fonts';
import { defineConfig, type Plugin } from 'vite';

const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.md', '.svg', '.txt']);
const PAGES = new Set(['.html', '.md']);
/** Dictionaries of the password meter, which the best quality would take seconds for. */
const LARGE_BYTES_MIN = 1024 * 1024;
/** A fortieth of the time of the best quality for 13 % more bytes. There are hundreds of pages, and a start waits for them. */
const QUICK_QUALITY = 7;
/** Scripts whose address is known elsewhere: to pages of other services, and to browsers that look for a newer one. */
const FIXED_NAMES = new Set(['password-strength', 'service-worker']);
/** Not the documentation, and not the dictionaries of the password meter. */
const STORED = /^assets\/(?!docs-|strength-worker-).+\.(?:js|css)$/;
const DIGEST_CHARACTERS = 16;
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
  const isQuick = PAGES.has(extname(file)) || plain.length >= LARGE_BYTES_MIN;
  const params = { [constants.BROTLI_PARAM_QUALITY]: isQuick ? QUICK_QUALITY : constants.BROTLI_MAX_QUALITY };
  await Promise.all([
    promisify(brotliCompress)(plain, { params }).then((bytes) => writeFile(`${file}.br`, bytes)),
    promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }).then((bytes) => writeFile(`${file}.gz`, bytes)),
  ]);
};

/** Tells the service worker the files of this release: scripts and styles of the console, not of the documentation. */
const listRelease = (): Plugin => ({
  name: 'list-release',
  apply: 'build',
  enforce: 'post',
  generateBundle: (_options, bundle) => {
    const names = Object.keys(bundle)
      .filter((name) => STORED.test(name))
      .toSorted();
    const shell = bundle['index.html'];
    const digest = hash('sha256', JSON.stringify([names, shell?.type === 'asset' ? String(shell.source) : '']), 'hex');
    const worker = bundle['service-worker.js'];
    if (worker?.type !== 'chunk') throw new Error('there is no service worker');
    const release = JSON.stringify({
      digest: digest.slice(0, DIGEST_CHARACTERS),
      files: names.map((name) => `/${name}`),
    });
    worker.code = worker.code.replace('__RELEASE__', () => release);
  },
});

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

/** Adds the fonts at the addresses that the auth service's and billing's pages use too, and preloads the one for text. */
const fonts = (): Plugin => ({
  name: 'fonts',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'link',
      attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: TEXT_FONT.path, crossorigin: true },
      injectTo: 'head',
    },
  ],
  generateBundle: function () {
    for (const [path, source] of readFonts()) this.emitFile({ type: 'asset', fileName: path.slice(1), source });
  },
});

const sourceOf = (name: string): string => fileURLToPath(new URL(`src/web/${name}`, import.meta.url));

/** Modules as the build knows them. */
interface Modules {
  readonly getModuleInfo: (id: string) => { readonly importedIds: readonly string[] } | null;
}

/** Returns a function that says whether a module comes with one of these, by static imports alone. */
const comesWith = (roots: readonly string[]) => {
  const reached = new Set<string>();
  return (id: string, modules: Modules): boolean => {
    const add = (module: string): void => {
      if (reached.has(module)) return;
      reached.add(module);
      modules.getModuleInfo(module)?.importedIds.forEach(add);
    };
    if (reached.size === 0) roots.forEach(add);
    return reached.has(id);
  };
};

/**
 * The chunks of the first page: its libraries, its own code with what other pages share with it, and small things that
 * entries without the first page import as well.
 */
const firstPageChunks = () => {
  const isOfFirstPage = comesWith([sourceOf('boot.tsx')]);
  const isOfOthers = comesWith([sourceOf('early-session.ts'), sourceOf('password-strength.ts')]);
  const nameOf = (id: string, modules: Modules): string | null => {
    // Helpers of the build.
    if (id.startsWith('\0')) return 'shared';
    if (!isOfFirstPage(id, modules)) return null;
    if (isOfOthers(id, modules)) return 'shared';
    return id.includes('/node_modules/') ? 'libraries' : 'first-page';
  };
  return ['shared', 'libraries', 'first-page'].map((name, index) => ({
    name: (id: string, modules: Modules) => (nameOf(id, modules) === name ? name : null),
    // The first fits first.
    priority: 2 - index,
  }));
};

/** Preloads the dynamic imports of the entry, so that one round brings them. */
const preloadFirstPage = (): Plugin => ({
  name: 'preload-first-page',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {}, chunk: entry }) => {
      const importsOf = (name: string): string[] => {
        const found = bundle[name];
        return found?.type === 'chunk' ? found.imports : [];
      };
      const later = entry?.dynamicImports.flatMap((name) => [name, ...importsOf(name)]) ?? [];
      const names = new Set(later.filter((name) => entry?.imports.includes(name) !== true));
      if (names.size === 0) throw new Error('the entry imports no first page');
      return [...names].map((name) => ({
        tag: 'link',
        attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
        injectTo: 'head',
      }));
    },
  },
});

// biome-ignore lint/style/noDefaultExport: Vite takes its configuration from the default export.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [fonts(), preloadFirstPage(), documentation(), listRelease(), compress()],
  build: {
    outDir: 'dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Inline data would need its own exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: {
      external: [/^\/assets\/.*\.woff2$/],
      input: {
        index: 'index.html',
        'password-strength': 'src/web/password-strength.ts',
        'service-worker': 'src/web/service-worker.ts',
      },
      output: {
        codeSplitting: { groups: firstPageChunks() },
        entryFileNames: ({ name }) => (FIXED_NAMES.has(name) ? '[name].js' : 'assets/[name]-[hash].js'),
      },
      onLog: (level, log, handle) => {
        // Libraries mark their modules for server rendering, which there is none of here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
});

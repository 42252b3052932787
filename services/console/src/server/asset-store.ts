import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** Encodings in which the build stores a file beside the plain one, best first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Name of an encoding in `Content-Encoding`. */
export type Encoding = (typeof ENCODINGS)[number]['name'];

/** One built file. */
export interface Asset {
  readonly contentType: string;
  /** Strong validator of the plain bytes, without quotes. */
  readonly digest: string;
  /** True if the name contains a hash of the content, which therefore never changes. */
  readonly isImmutable: boolean;
  readonly plain: Buffer;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

/** The built pages, held in memory. A changed `index.html` means that there is a new build. */
export interface AssetStore {
  /** Returns the file at a URL path such as `/assets/x.js`; undefined if there is none. */
  readonly find: (path: string) => Promise<Asset | undefined>;
  readonly isBuilt: () => Promise<boolean>;
}

/** Path of the single page. */
export const INDEX_PATH = '/index.html';

interface Loaded {
  readonly stamp: number;
  readonly files: ReadonlyMap<string, Asset>;
}

/** Opens the built pages of a directory, which need not exist yet. */
export const createAssetStore = (directory: string): AssetStore => {
  let loaded: Promise<Loaded> | undefined;
  let stampOfLoaded = Number.NaN;
  const current = async (): Promise<Loaded | undefined> => {
    const stamp = await stampOf(directory);
    if (stamp === undefined) return undefined;
    if (loaded === undefined || stamp !== stampOfLoaded) {
      stampOfLoaded = stamp;
      loaded = load(directory, stamp);
      // The next request tries again.
      loaded.catch(() => {
        loaded = undefined;
      });
    }
    return await loaded;
  };
  return {
    find: async (path) => (await current())?.files.get(path),
    isBuilt: async () => (await current()) !== undefined,
  };
};

const stampOf = async (directory: string): Promise<number | undefined> => {
  try {
    return (await stat(join(directory, INDEX_PATH))).mtimeMs;
  } catch {
    return undefined;
  }
};

const load = async (directory: string, stamp: number): Promise<Loaded> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries.filter((item) => item.isFile())) {
    const file = join(entry.parentPath, entry.name);
    contents.set(file.slice(join(directory, sep).length - 1).replaceAll(sep, '/'), await readFile(file));
  }
  const plain = [...contents.keys()].filter((path) => !ENCODINGS.some(({ suffix }) => path.endsWith(suffix)));
  return { stamp, files: new Map(plain.map((path) => [path, toAsset(path, contents)])) };
};

const toAsset = (path: string, contents: ReadonlyMap<string, Buffer>): Asset => {
  const plain = contents.get(path) ?? Buffer.alloc(0);
  const encoded = new Map<Encoding, Buffer>();
  for (const { name, suffix } of ENCODINGS) {
    const bytes = contents.get(path + suffix);
    if (bytes !== undefined) encoded.set(name, bytes);
  }
  return {
    contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
    digest: hash('sha256', plain, 'base64url').slice(0, 22),
    isImmutable: path.startsWith('/assets/'),
    plain,
    encoded,
  };
};

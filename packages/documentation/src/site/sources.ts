import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

/** Path of the documentation. */
export const ROOT = '/docs';

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the address of a source below `docs/`: guides are at the root, folders keep their name. */
export const addressOf = (source: string): string => {
  const path = source
    .replace(/\.md$/, '')
    .replace(/^guides\//, '')
    .replace(/(^|\/)index$/, '');
  return path === '' ? ROOT : `${ROOT}/${path}`;
};

/** Resolves a link in `source`; undefined if the site has no such page. */
export const resolveHref = (source: string, href: string, sources: ReadonlySet<string>): string | undefined => {
  if (HAS_SCHEME.test(href) || href.startsWith('/') || href.startsWith('#')) return href;
  const [path = '', anchor] = href.split('#', 2);
  const target = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, '');
  if (!sources.has(target)) return undefined;
  return addressOf(target) + (anchor === undefined ? '' : `#${anchor}`);
};

/** Markdown by path below `docs/`; a folder's name stands for the list of its pages. */
export type Sources = ReadonlyMap<string, string>;

/** Folders with a list of their pages. */
const LISTED_FOLDERS: Readonly<Record<string, string>> = {
  adr: '# Decisions\n\nDecisions with their reasons.\n',
  runbooks: '# Runbooks\n\nOne page per alert: meaning, diagnosis, remedy.\n',
};

/** Reads every page below a folder and creates the lists. */
export const readSources = (directory: string): Sources => {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll(sep, '/'))
    .filter((path) => path.endsWith('.md'))
    .sort();
  const pages = new Map(files.map((path) => [path, readFileSync(join(directory, path), 'utf8')]));
  for (const [folder, introduction] of Object.entries(LISTED_FOLDERS)) {
    const items = files
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => `- [${titleOf(pages.get(path) ?? '')}](${path})`);
    pages.set(folder, `${introduction}\n${items.join('\n')}\n`);
  }
  return pages;
};

const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? '';

/** PNG files by path below `docs/`. */
export type Pictures = ReadonlyMap<string, Buffer>;

/** Reads every picture below a folder, but none of the differences that tests leave. */
export const readPictures = (directory: string): Pictures => {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.png') && !path.split(sep).some((part) => part.startsWith('.')))
    .sort();
  return new Map(paths.map((path) => [path.replaceAll(sep, '/'), readFileSync(join(directory, path))]));
};

/** Returns the size of a PNG file (PNG specification, section 11.2.2). */
export const sizeOf = (png: Buffer): { width: number; height: number } => ({
  width: png.readUInt32BE(16),
  height: png.readUInt32BE(20),
});

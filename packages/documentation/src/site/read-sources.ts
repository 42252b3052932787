import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** Markdown by its path below `docs/`; a folder's own name stands for the list of its pages. */
export type Sources = ReadonlyMap<string, string>;

/** Folders whose pages have a list of their own. */
const LISTED_FOLDERS: Readonly<Record<string, string>> = {
  adr: '# Decisions\n\nWhat was decided, and why.\n',
  runbooks: '# Runbooks\n\nOne page for each alert: what it means, what to look at, what to do.\n',
};

/** Reads every page below a folder, and makes the lists. */
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

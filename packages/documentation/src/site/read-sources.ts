import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

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

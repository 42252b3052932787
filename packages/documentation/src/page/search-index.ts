import { textOf } from '../markdown/index.ts';
import type { Page } from './render-page.ts';
import type { SearchEntry } from './search-entry.ts';

/** Long enough to match the words of a section while the index stays small. */
const TEXT_CHARACTERS_MAX = 600;

/** Renders the search index of all languages: every page and every section below a heading. */
export const searchIndex = (pages: readonly Page[]): string => JSON.stringify(pages.flatMap(entriesOf));

const entriesOf = ({ address, title, language, content, headings }: Page): SearchEntry[] => {
  const [beginning = '', ...parts] = content.markup.split(/<h[2-4] id="/);
  const texts = new Map(parts.map((part) => [part.slice(0, part.indexOf('"')), part.slice(part.indexOf('</h') + 5)]));
  return [
    { a: address, p: title, h: '', l: language, t: shorten(beginning) },
    ...headings.map(({ id, text }) => ({
      a: `${address}#${id}`,
      p: title,
      h: text,
      l: language,
      t: shorten(texts.get(id) ?? ''),
    })),
  ];
};

const shorten = (content: string): string =>
  textOf(content).replaceAll(/\s+/g, ' ').trim().slice(0, TEXT_CHARACTERS_MAX);

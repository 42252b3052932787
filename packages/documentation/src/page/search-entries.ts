import { textOf } from '../markdown/render-markdown.ts';
import type { Language } from '../site/guide-sections.ts';
import type { Page } from './render-page.ts';
import type { SearchEntry } from './search-entry.ts';

/** Long enough to match the words of a section while the list stays small. */
const TEXT_CHARACTERS_MAX = 600;

/**
 * Renders the searchable sections for readers of a language: every heading of its pages, and of the pages that are not
 * translated into it.
 */
export const searchEntries = (pages: readonly Page[], language: Language): string =>
  JSON.stringify(
    pages.filter((page) => page.language === language || page.translations[language] === undefined).flatMap(entriesOf),
  );

const entriesOf = ({ address, title, language, area, content, headings }: Page): SearchEntry[] => {
  const [beginning = '', ...parts] = content.markup.split(/<h[2-4] id="/);
  const texts = new Map(parts.map((part) => [part.slice(0, part.indexOf('"')), part.slice(part.indexOf('</h') + 5)]));
  const page = { p: title, l: language, g: area } as const;
  return [
    { a: address, ...page, h: '', t: shorten(beginning) },
    ...headings.map(({ id, text }) => ({ a: `${address}#${id}`, ...page, h: text, t: shorten(texts.get(id) ?? '') })),
  ];
};

const shorten = (content: string): string =>
  textOf(content.replaceAll(/<button[^>]*>.*?<\/button>/g, ''))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, TEXT_CHARACTERS_MAX);

import type { SearchEntry } from '../src/page/search-entry.ts';
import { pageLanguage, texts } from './texts.ts';

const RESULTS_MAX = 12;
/** As much as a heading: the other language's pages come last, but a better match there still beats a poor one here. */
const OWN_LANGUAGE_POINTS = 4;

/** Makes the search work. Its index is fetched on first use. */
export const enableSearch = (): void => {
  const box = document.querySelector<HTMLElement>('.search');
  const input = box?.querySelector('input');
  const results = box?.querySelector<HTMLElement>('.search-results');
  const index = box?.dataset['index'];
  if (!box || !input || !results || index === undefined) return;
  let entries: Promise<readonly SearchEntry[]> | undefined;
  input.addEventListener('focus', () => {
    entries ??= loadEntries(index);
  });
  input.addEventListener('input', async () => {
    entries ??= loadEntries(index);
    const words = input.value;
    try {
      const found = findEntries(await entries, words);
      // Skips results that are out of date.
      if (words === input.value) showResults(results, found, words);
    } catch {
      entries = undefined;
      results.replaceChildren(texts.notLoaded);
    }
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') results.querySelector('a')?.click();
    if (event.key !== 'Escape') return;
    input.value = '';
    results.replaceChildren();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea') !== null;
    if (event.key !== '/' || isTyping) return;
    event.preventDefault();
    input.focus();
  });
};

/** Returns text in lower case without accents, so that `perche` finds `perché`. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();

const loadEntries = async (path: string): Promise<readonly SearchEntry[]> => {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.json();
};

const findEntries = (entries: readonly SearchEntry[], words: string): readonly SearchEntry[] => {
  const wanted = plain(words).split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return entries
    .map((entry) => ({ entry, points: pointsOf(entry, wanted) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
};

/**
 * Every word must match. A match in a heading scores higher than one in the text, and a page in the reader's language
 * higher than the same page in another.
 */
const pointsOf = ({ p, h, l, t }: SearchEntry, words: readonly string[]): number => {
  const page = plain(p);
  const heading = plain(h);
  const text = plain(t);
  let points = 0;
  for (const word of words) {
    const found =
      (heading.includes(word) ? 4 : 0) + (page.includes(word) ? (h === '' ? 5 : 2) : 0) + (text.includes(word) ? 1 : 0);
    if (found === 0) return 0;
    points += found;
  }
  return l === pageLanguage ? points + OWN_LANGUAGE_POINTS : points;
};

const showResults = (place: HTMLElement, found: readonly SearchEntry[], words: string): void => {
  if (found.length === 0) {
    place.replaceChildren(words.trim() === '' ? '' : texts.nothing);
    return;
  }
  const list = document.createElement('ul');
  for (const { a, p, h, l, t } of found) {
    const link = document.createElement('a');
    link.lang = l;
    const title = document.createElement('strong');
    const text = document.createElement('span');
    link.href = a;
    title.textContent = h === '' ? p : `${p}: ${h}`;
    text.textContent = t.slice(0, 90);
    link.append(title, text);
    list.appendChild(document.createElement('li')).append(link);
  }
  place.replaceChildren(list);
};

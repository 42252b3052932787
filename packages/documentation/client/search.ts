import type { SearchEntry } from '../src/page/search-entry.ts';
import type { FindSections } from './find-sections.ts';
import { areaTitles, texts } from './texts.ts';

/** Makes the search work. Its library and its list of sections are fetched on first use. */
export const enableSearch = (): void => {
  const box = document.querySelector<HTMLElement>('.search');
  const input = box?.querySelector('input');
  const results = box?.querySelector<HTMLElement>('.search-results');
  const list = box?.dataset['index'];
  if (!box || !input || !results || list === undefined) return;
  let sections: Promise<FindSections> | undefined;
  const load = async (): Promise<FindSections> => (await import('./find-sections.ts')).loadSections(list);
  input.addEventListener('focus', () => {
    sections ??= load();
  });
  input.addEventListener('input', async () => {
    sections ??= load();
    const words = input.value;
    try {
      const findSections = await sections;
      // Skips results that are out of date.
      if (words === input.value) showResults(results, findSections(words), words);
    } catch {
      sections = undefined;
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

const showResults = (place: HTMLElement, found: readonly SearchEntry[], words: string): void => {
  if (found.length === 0) {
    place.replaceChildren(words.trim() === '' ? '' : texts.nothing);
    return;
  }
  const groups = areaTitles.flatMap(([area, name]) => {
    const entries = found.filter(({ g }) => g === area);
    if (entries.length === 0) return [];
    const title = document.createElement('p');
    title.textContent = name;
    const list = document.createElement('ul');
    list.append(...entries.map(resultItem));
    return [title, list];
  });
  place.replaceChildren(...groups);
};

const resultItem = ({ a, p, h, l, t }: SearchEntry): HTMLElement => {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const title = document.createElement('strong');
  const text = document.createElement('span');
  link.href = a;
  link.lang = l;
  title.textContent = h === '' ? p : `${p}: ${h}`;
  text.textContent = t.slice(0, 90);
  link.append(title, text);
  item.append(link);
  return item;
};

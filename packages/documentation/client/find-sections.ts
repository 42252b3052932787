import MiniSearch, { type CombinationOperator, type Query } from 'minisearch';
import type { SearchEntry } from '../src/page/search-entry.ts';

/** Results of one area, and of one page in it. */
const RESULTS_MAX = 6;
const RESULTS_PER_PAGE_MAX = 3;
/** Shorter words are not searched with a typing error: too much would match. */
const FUZZY_CHARACTERS_MIN = 5;
const FUZZY_SHARE = 0.2;

/** Longer words also match without their ending, so that `streaming` finds `Stream`. */
const STEM_CHARACTERS_MIN = 8;
const ENDING_CHARACTERS = 3;

/** Returns the sections that match all words, or else any of them, best first. */
export type FindSections = (words: string) => readonly SearchEntry[];

/** Lower case without accents, so that `perche` finds `perché`. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();

const tokenize: (text: string) => readonly string[] = MiniSearch.getDefault('tokenize');

const queryOf = (words: string, combineWith: CombinationOperator): Query => ({
  combineWith,
  queries: tokenize(words)
    .filter(Boolean)
    .map((word) => ({
      combineWith: 'OR',
      queries: word.length < STEM_CHARACTERS_MIN ? [word] : [word, word.slice(0, -ENDING_CHARACTERS)],
    })),
});

/** Fetches the sections of a list and indexes them. Throws if the list cannot be fetched. */
export const loadSections = async (path: string): Promise<FindSections> => {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const entries: readonly SearchEntry[] = await response.json();
  const byAddress = new Map(entries.map((entry) => [entry.a, entry]));
  const index = new MiniSearch<SearchEntry>({
    idField: 'a',
    fields: ['h', 'p', 't'],
    processTerm: plain,
    searchOptions: {
      boost: { h: 4, p: 3 },
      prefix: true,
      fuzzy: (term) => (term.length >= FUZZY_CHARACTERS_MIN ? FUZZY_SHARE : false),
    },
  });
  await index.addAllAsync(entries);
  return (words) => {
    const matches = index.search(queryOf(words, 'AND'));
    const found = matches.length > 0 ? matches : index.search(queryOf(words, 'OR'));
    const shown = new Map<string, number>();
    const isWithin = (group: string, most: number): boolean => {
      const place = (shown.get(group) ?? 0) + 1;
      shown.set(group, place);
      return place <= most;
    };
    return found
      .flatMap(({ id }) => byAddress.get(id) ?? [])
      .filter(({ g, p }) => isWithin(`${g}/${p}`, RESULTS_PER_PAGE_MAX) && isWithin(g, RESULTS_MAX));
  };
};

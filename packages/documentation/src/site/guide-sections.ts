import { inLanguage, isGuide, type Language, type Localized } from './languages.ts';

/** A group of pages in the navigation. */
export interface SiteSection {
  readonly titles: Localized;
  /** English sources below `docs/`, in reading order. */
  readonly sources: readonly string[];
}

/** The guides and reference pages, in order. Other pages are reached by links. */
export const siteSections: readonly SiteSection[] = [
  {
    titles: { en: 'For partner apps', it: 'Per le app partner' },
    sources: [
      'guides/quick-start.md',
      'guides/connect.md',
      'guides/call.md',
      'guides/stream.md',
      'guides/transcribe.md',
      'guides/usage-and-limits.md',
      'guides/budgets.md',
      'receipts.md',
      'guides/handle-errors.md',
      'guides/receive-webhooks.md',
      'guides/go-live.md',
    ],
  },
  {
    titles: { en: 'For gateway users', it: 'Per chi usa il gateway' },
    sources: ['guides/gateway.md', 'guides/compliance.md', 'guides/keys-and-wallet.md'],
  },
  {
    titles: { en: 'For operators', it: 'Per chi gestisce il servizio' },
    sources: [
      'guides/operators.md',
      'guides/one-machine.md',
      'guides/restore.md',
      'guides/people.md',
      'architecture.md',
    ],
  },
  {
    titles: { en: 'Reference', it: 'Riferimento (in inglese)' },
    sources: ['errors.md', 'clients.md', 'glossary.md'],
  },
];

/** The page at `/docs`. */
export const INDEX_SOURCE = 'guides/index.md';

/** Sources of a section in a language. Pages that are not guides are English only. */
export const sourcesIn = (language: Language, { sources }: SiteSection): readonly string[] =>
  sources.map((source) => (isGuide(source) ? inLanguage(source, language) : source));

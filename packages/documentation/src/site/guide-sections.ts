/** A group of pages in the navigation. */
export interface SiteSection {
  readonly title: string;
  /** Sources below `docs/`, in reading order. */
  readonly sources: readonly string[];
}

/** The guides and reference pages, in order. Other pages are reached by links. */
export const siteSections: readonly SiteSection[] = [
  {
    title: 'For partner apps',
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
    title: 'For gateway users',
    sources: ['guides/gateway.md', 'guides/compliance.md', 'guides/keys-and-wallet.md'],
  },
  {
    title: 'For operators',
    sources: ['guides/operators.md', 'guides/one-machine.md', 'guides/restore.md', 'architecture.md'],
  },
  { title: 'Reference', sources: ['errors.md', 'clients.md', 'glossary.md'] },
];

/** The page at `/docs`. */
export const INDEX_SOURCE = 'guides/index.md';

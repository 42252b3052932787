import type { IngressMatch } from './ingress-table.ts';

/** First segments without pages, so that a mistyped API path is a plain 404. */
const NO_PAGES = new Set(['v1', 'sandbox', '.well-known', 'internal', 'metrics', 'healthz', 'readyz']);

const PAGES: IngressMatch = { service: 'console', errorShape: 'detail', template: 'pages', mayCost: false };

/** Returns the console as the owner of a path that no route owns, unless it cannot be a page. */
export const matchPage = (path: string): IngressMatch | undefined =>
  NO_PAGES.has(path.split('/')[1] ?? '') ? undefined : PAGES;

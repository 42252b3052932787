import type { IngressMatch } from './ingress-table.ts';

/** First segments below which there is never a page, so that a mistyped API path is a plain 404. */
const NO_PAGES = new Set(['v1', 'sandbox', '.well-known', 'internal', 'metrics', 'healthz', 'readyz']);

const PAGES: IngressMatch = { service: 'console', errorShape: 'detail', template: 'pages', mayCost: false };

/** Says whether a path that no route owns may be one of the console's pages. */
export const matchPage = (path: string): IngressMatch | undefined =>
  NO_PAGES.has(path.split('/')[1] ?? '') ? undefined : PAGES;

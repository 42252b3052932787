import type { IncomingMessage } from 'node:http';
import { type Locale, localeSchema } from '@svc/contracts';
import { preferredUiLocale } from './asked-query.ts';

/**
 * Returns the language for a request that could not be parsed: from its query, else the browser's first, else Italian.
 */
export const preferredLocale = (req: IncomingMessage): Locale => {
  const query = new URLSearchParams(req.url?.split('?', 2)[1] ?? '');
  const named = localeSchema.safeParse(query.get('locale'));
  if (named.success) return named.data;
  const accepted = /^[a-z]{2}/i.exec(req.headers['accept-language'] ?? '')?.[0];
  return preferredUiLocale(query.get('ui_locales') ?? undefined) ?? preferredUiLocale(accepted) ?? 'it';
};

import type { IncomingMessage } from 'node:http';
import { type Locale, localeSchema } from '@svc/contracts';

/** The language of whoever sends what does not say its own: the browser's first, where it is one of ours. */
export const preferredLocale = (req: IncomingMessage): Locale => {
  const first = /^[a-z]{2}/i.exec(req.headers['accept-language'] ?? '')?.[0].toLowerCase();
  const locale = localeSchema.safeParse(first);
  return locale.success ? locale.data : 'it';
};

import type { IncomingMessage } from 'node:http';
import { type Locale, localeSchema } from '@svc/contracts';
import { type Html, html } from '@svc/pages';
import { en } from './texts/en.ts';
import { it } from './texts/it.ts';

/** The texts of the pages in one language. */
export type PageText = typeof it;

const texts: Readonly<Record<Locale, PageText>> = { it, en };

/** Returns the texts of a language. */
export const pageText = (locale: Locale): PageText => texts[locale];

/**
 * Control and format characters, including those that change the text direction. Joiners stay: Persian words and emoji
 * are spelled with them.
 */
const STEERING_CHARACTERS = /(?![\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Removes control and format characters from a name, except for joiners. */
export const withoutSteering = (name: string): string => name.replace(STEERING_CHARACTERS, '');

/** Isolates a name chosen by another person, so that it cannot change the text direction around it. */
export const isolated = (name: string): Html => html`<bdi>${name}</bdi>`;

/** Returns the first supported language of a `ui_locales` list (OpenID Connect Core 3.1.2.1). */
export const preferredUiLocale = (list: string | undefined): Locale | undefined => {
  for (const tag of list?.split(' ') ?? []) {
    const locale = localeSchema.safeParse(tag.split('-', 1)[0]?.toLowerCase());
    if (locale.success) return locale.data;
  }
  return undefined;
};

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

import type { Request, Response } from 'express';
import { en, type Language, type Texts } from './en.ts';
import { it } from './it.ts';

/** Formats an instant as people write it. The server does not know the zone of the browser, so it names UTC. */
export const formatTime = (instant: Date, language: Language): string => {
  const options = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(language === 'it' ? 'it-IT' : 'en-GB', options).format(instant)} UTC`;
};

export interface View {
  readonly texts: Texts;
  /** Address at which users manage their account and subscription. */
  readonly serviceUrl: string;
}

const COOKIE = 'sample_partner_language';
const COOKIE_MS = 365 * 24 * 60 * 60 * 1000;

/** Returns the chosen language, or the first one that the browser accepts, or English. */
export const textsOf = (request: Request): Texts => {
  const chosen = new RegExp(`(?:^|;\\s*)${COOKIE}=(en|it)(?:;|$)`).exec(request.headers.cookie ?? '')?.[1];
  return (chosen ?? request.acceptsLanguages('en', 'it')) === 'it' ? it : en;
};

/** Stores the language in a cookie. */
export const setLanguage = (response: Response, language: Language): void => {
  response.cookie(COOKIE, language, { maxAge: COOKIE_MS, sameSite: 'lax', path: '/' });
};

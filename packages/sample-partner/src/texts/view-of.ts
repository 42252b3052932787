import type { Request, Response } from 'express';
import { en, type Language, type Texts } from './en.ts';
import { it } from './it.ts';

/** What every page is shown with. */
export interface View {
  readonly texts: Texts;
  /** Where users manage their account and their subscription. */
  readonly serviceUrl: string;
}

const COOKIE = 'sample_partner_language';
const COOKIE_MS = 365 * 24 * 60 * 60 * 1000;

/** The language that was chosen here, or else the first that the browser asks for; English where it knows neither. */
export const textsOf = (request: Request): Texts => {
  const chosen = new RegExp(`(?:^|;\\s*)${COOKIE}=(en|it)(?:;|$)`).exec(request.headers.cookie ?? '')?.[1];
  return (chosen ?? request.acceptsLanguages('en', 'it')) === 'it' ? it : en;
};

/** Remembers a language. */
export const setLanguage = (response: Response, language: Language): void => {
  response.cookie(COOKIE, language, { maxAge: COOKIE_MS, sameSite: 'lax', path: '/' });
};

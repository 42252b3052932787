import type { Locale } from '@svc/contracts';
import { en } from './texts/en.ts';
import { it } from './texts/it.ts';

/** The texts of the pages in one language. */
export type PageText = typeof it;

const texts: Readonly<Record<Locale, PageText>> = { it, en };

/** Returns the texts of a language. */
export const pageText = (locale: Locale): PageText => texts[locale];

import type { Locale, Scope } from '@svc/contracts';
import { knownScopes } from '../oidc/index.ts';

export interface ScopeText {
  readonly title: string;
  readonly description: string;
}

const texts: Readonly<Record<Scope, Readonly<Record<Locale, ScopeText>>>> = {
  inference: {
    it: {
      title: 'Usare la chat e la trascrizione audio per tuo conto',
      description: 'Il consumo viene addebitato al tuo abbonamento.',
    },
    en: {
      title: 'Use chat and audio transcription on your behalf',
      description: 'What it uses is charged to your subscription.',
    },
  },
  'usage:read': {
    it: {
      title: 'Leggere i tuoi limiti e il tuo consumo',
      description: 'Quanto hai usato dei limiti settimanali e mensili e quali servizi comprende il tuo piano.',
    },
    en: {
      title: 'Read your limits and your usage',
      description: 'How much of your weekly and monthly limits is used, and which services your plan includes.',
    },
  },
};

/**
 * Reads a space-separated list (RFC 6749 section 3.3) into our order, each once. Returns undefined if it is empty or names
 * a scope that does not exist.
 */
export const parseScope = (text: string): Scope[] | undefined => {
  const known = knownScopes(text);
  return known.length === new Set(text.split(' ')).size ? known : undefined;
};

/** Returns title and description of a scope for people. */
export const scopeText = (scope: Scope, locale: Locale): ScopeText => texts[scope][locale];

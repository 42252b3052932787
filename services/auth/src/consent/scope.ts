import { type Locale, type Scope, scopes } from '@svc/contracts';

/** A scope as a person reads it. */
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

/** Reads a space-separated list (RFC 6749 section 3.3) into our order, each once; undefined where one is unknown, or none is named. */
export const parseScope = (text: string): Scope[] | undefined => {
  const names = new Set(text.split(' '));
  const known = scopes.filter((scope) => names.has(scope));
  return known.length === names.size ? known : undefined;
};

/** What a person is told about a scope. */
export const scopeText = (scope: Scope, locale: Locale): ScopeText => texts[scope][locale];

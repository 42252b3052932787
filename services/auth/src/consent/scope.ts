import type { Locale, PlanServices, Scope } from '@svc/contracts';
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
 * Parses a space-separated list (RFC 6749 section 3.3) into our order, without duplicates; surplus blanks are ignored.
 * Returns undefined if it is empty or contains an unknown scope.
 */
export const parseScope = (text: string): Scope[] | undefined => {
  const known = knownScopes(text);
  const named = new Set(text.split(' ').filter((name) => name !== ''));
  return known.length > 0 && known.length === named.size ? known : undefined;
};

/** Titles of `inference` on plans that include one service alone. */
const singleServiceTitles: Readonly<Record<keyof PlanServices, Readonly<Record<Locale, string>>>> = {
  chat: { it: 'Usare la chat per tuo conto', en: 'Use chat on your behalf' },
  audio_transcription: {
    it: 'Usare la trascrizione audio per tuo conto',
    en: 'Use audio transcription on your behalf',
  },
};

/** Returns the title and description of a scope. Names no service that the plan lacks, if the plan is known. */
export const scopeText = (scope: Scope, locale: Locale, services?: PlanServices): ScopeText => {
  const text = texts[scope][locale];
  if (scope !== 'inference' || services === undefined || services.chat === services.audio_transcription) return text;
  return { ...text, title: singleServiceTitles[services.chat ? 'chat' : 'audio_transcription'][locale] };
};

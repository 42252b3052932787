import type { Locale } from '@svc/contracts';

interface StrengthTexts {
  readonly label: string;
  /** Verdicts by score. */
  readonly verdicts: readonly [string, string, string, string, string];
  readonly faults: Readonly<Record<'common' | 'own', string>>;
  readonly missing: (characters: number) => string;
}

/** Texts of the meter. Separate from all others, because pages without the console's script show it too. */
export const STRENGTH_TEXTS: Readonly<Record<Locale, StrengthTexts>> = {
  en: {
    label: 'Password strength',
    verdicts: ['Very weak', 'Weak', 'Not strong enough', 'Strong', 'Very strong'],
    faults: {
      common: 'It is one of the most common passwords.',
      own: 'It is made of your address or your name.',
    },
    missing: (characters) =>
      characters === 1 ? '1 more character is needed.' : `${characters} more characters are needed.`,
  },
  it: {
    label: 'Sicurezza della password',
    verdicts: ['Debolissima', 'Debole', 'Non basta ancora', 'Sicura', 'Molto sicura'],
    faults: {
      common: 'È una delle password più usate.',
      own: 'È fatta con il tuo indirizzo o il tuo nome.',
    },
    missing: (characters) => (characters === 1 ? 'Manca 1 carattere.' : `Mancano ${characters} caratteri.`),
  },
};

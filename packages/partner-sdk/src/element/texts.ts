/** Texts of the button in one language. */
export interface ElementTexts {
  readonly connect: string;
  readonly busy: string;
  readonly disconnect: string;
  readonly denied: string;
  readonly failed: string;
}

export type ElementLocale = 'en' | 'it';

export const elementTexts: Readonly<Record<ElementLocale, ElementTexts>> = {
  en: {
    connect: 'Connect your AI plan',
    busy: 'Connecting…',
    disconnect: 'Disconnect',
    denied: 'You chose not to connect.',
    failed: 'That did not work. Try again.',
  },
  it: {
    connect: 'Collega il tuo piano AI',
    busy: 'Collegamento…',
    disconnect: 'Scollega',
    denied: 'Hai scelto di non collegarti.',
    failed: 'Non ha funzionato. Riprova.',
  },
};

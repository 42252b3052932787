import type { Area } from '../src/site/guide-sections.ts';

/** Words that the script shows. */
const TEXTS = {
  en: {
    copy: 'Copy',
    copied: 'Copied',
    select: 'Please select the text',
    light: 'Light',
    dark: 'Dark',
    nothing: 'Nothing found.',
    notLoaded: 'The search cannot be loaded now.',
  },
  it: {
    copy: 'Copia',
    copied: 'Copiato',
    select: 'Seleziona il testo',
    light: 'Chiaro',
    dark: 'Scuro',
    nothing: 'Nessun risultato.',
    notLoaded: 'Ora la ricerca non è disponibile.',
  },
} as const;

const AREA_TITLES = {
  en: { guides: 'Guides', reference: 'Reference', operators: 'For operators' },
  it: { guides: 'Guide', reference: 'Riferimento', operators: 'Per chi gestisce il servizio' },
} as const satisfies Record<string, Readonly<Record<Area, string>>>;

/** Language of the page. */
export const pageLanguage = document.documentElement.lang === 'it' ? 'it' : 'en';

export const texts = TEXTS[pageLanguage];

/** Titles of the groups of search results, in order: guides come before runbooks. */
export const areaTitles = (['guides', 'reference', 'operators'] as const).map(
  (area) => [area, AREA_TITLES[pageLanguage][area]] as const,
);

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

/** Language of the page. */
export const pageLanguage = document.documentElement.lang === 'it' ? 'it' : 'en';

export const texts = TEXTS[pageLanguage];

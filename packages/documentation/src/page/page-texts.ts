import type { Language } from '../site/index.ts';

/** Words of the frame around a page. */
interface PageTexts {
  /** Name of the language in itself. */
  readonly name: string;
  readonly site: string;
  readonly skip: string;
  readonly documentation: string;
  readonly console: string;
  readonly openapi: string;
  readonly search: string;
  readonly searchLabel: string;
  readonly dark: string;
  readonly allPages: string;
  readonly outline: string;
  readonly steps: string;
  readonly before: string;
  readonly next: string;
}

export const pageTexts: Readonly<Record<Language, PageTexts>> = {
  en: {
    name: 'English',
    site: 'svc documentation',
    skip: 'Skip to the content',
    documentation: 'Documentation',
    console: 'Console',
    openapi: 'OpenAPI document',
    search: 'Search',
    searchLabel: 'Search the documentation',
    dark: 'Dark',
    allPages: 'All pages',
    outline: 'On this page',
    steps: 'Before and after',
    before: 'Before',
    next: 'Next',
  },
  it: {
    name: 'Italiano',
    site: 'Documentazione di svc',
    skip: 'Vai al contenuto',
    documentation: 'Documentazione',
    console: 'Console',
    openapi: 'Documento OpenAPI',
    search: 'Cerca',
    searchLabel: 'Cerca nella documentazione',
    dark: 'Scuro',
    allPages: 'Tutte le pagine',
    outline: 'In questa pagina',
    steps: 'Prima e dopo',
    before: 'Prima',
    next: 'Dopo',
  },
};

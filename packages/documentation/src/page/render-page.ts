import { CODE_FONT, type Html, html, TEXT_FONT } from '@svc/pages';
import type { Heading } from '../markdown/render-markdown.ts';
import { type Area, INDEX_SOURCE, inLanguage, LANGUAGES, type Language } from '../site/guide-sections.ts';
import { addressOf } from '../site/sources.ts';

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

const pageTexts: Readonly<Record<Language, PageTexts>> = {
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

/** A group of links in the navigation. */
export interface NavigationSection {
  readonly title: string;
  readonly links: readonly PageLink[];
}

export interface PageLink {
  readonly address: string;
  readonly title: string;
  readonly language: Language;
}

/** Content of a page. */
export interface Page extends PageLink {
  readonly area: Area;
  readonly content: Html;
  /** The same page as Markdown. */
  readonly markdown: string;
  readonly headings: readonly Heading[];
  /** Addresses of this page by language; only its own if it is not translated. */
  readonly translations: Readonly<Partial<Record<Language, string>>>;
}

/** Frame around every page of a language. */
export interface Frame {
  readonly navigation: readonly NavigationSection[];
  readonly stylesheet: string;
  /** Blocks the first paint; applies remembered choices. */
  readonly earlyScript: string;
  readonly script: string;
  /** Address of the searchable sections. */
  readonly searchEntries: string;
  /** Versions that the pages describe. */
  readonly versions: string;
}

/** Deepest heading level in the list beside the page. References are looked up by a name, which is a heading below. */
const outlineLevelMax = (area: Area): number => (area === 'reference' ? 3 : 2);
const OUTLINE_HEADINGS_MIN = 2;

/** Renders the document of a page. */
export const renderPage = (page: Page, frame: Frame): string => {
  const texts = pageTexts[page.language];
  const isHome = page.address === homeOf(page.language);
  return html`<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${isHome ? texts.site : `${page.title} · ${texts.site}`}</title>
${alternates(page)}
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${[TEXT_FONT, CODE_FONT].map(
  ({ path }) => html`<link rel="preload" as="font" type="font/woff2" href="${path}" crossorigin>
`,
)}<link rel="stylesheet" href="${frame.stylesheet}">
<script src="${frame.earlyScript}"></script>
<script type="module" src="${frame.script}"></script>
</head>
<body${isHome && html` class="home"`}>
<a class="skip" href="#content">${texts.skip}</a>
${header(page, frame)}
<div class="frame">
${navigation(page, frame)}
<main id="content" tabindex="-1">
<article>
${page.content}
</article>
${steps(page, frame)}
</main>
${outline(page)}
</div>
<footer><span>${frame.versions}</span> <a href="/">${texts.console}</a> <a href="${homeOf(page.language)}">${texts.documentation}</a> <a href="/v1/openapi.json">${texts.openapi}</a></footer>
</body>
</html>
`.markup;
};

const homeOf = (language: Language): string => addressOf(inLanguage(INDEX_SOURCE, language));

/** Names the same page in each language for search engines, English being the default. */
const alternates = ({ translations }: Page): readonly Html[] => {
  const found = Object.entries(translations);
  if (found.length < 2) return [];
  return [...found, ['x-default', translations.en] as const].map(
    ([language, address]) => html`<link rel="alternate" hreflang="${language}" href="${address}">
`,
  );
};

/** Links to the page in the other languages; to their home page if it is not translated. */
const languageLinks = (page: Page): readonly Html[] =>
  LANGUAGES.filter((language) => language !== page.language).map(
    (language) =>
      html`<a class="language" href="${page.translations[language] ?? homeOf(language)}" hreflang="${language}" lang="${language}">${pageTexts[language].name}</a>`,
  );

const header = (page: Page, { searchEntries }: Frame): Html => {
  const texts = pageTexts[page.language];
  return html`<header>
<a class="brand" href="${homeOf(page.language)}"><svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="9" class="brand-ground"/><path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" class="brand-line"/></svg><span>svc <span class="brand-what">docs</span></span></a>
<div class="search" role="search" data-index="${searchEntries}">
<input type="search" id="search" placeholder="${texts.search}" autocomplete="off" spellcheck="false" aria-label="${texts.searchLabel}" aria-controls="search-results"><kbd aria-hidden="true">/</kbd>
<div id="search-results" class="search-results" aria-live="polite"></div>
</div>
${languageLinks(page)}
<button type="button" class="theme">${texts.dark}</button>
<a class="to-console" href="/">${texts.console}</a>
</header>`;
};

const navigation = (page: Page, frame: Frame): Html => html`<details class="menu">
<summary>${pageTexts[page.language].allPages}</summary>
<nav aria-label="${pageTexts[page.language].documentation}">
${frame.navigation.map(
  ({ title, links }) => html`<h2>${title}</h2>
<ul>${links.map((link) => html`<li><a href="${link.address}"${link.address === page.address && html` aria-current="page"`}${link.language !== page.language && html` hreflang="${link.language}" lang="${link.language}"`}>${link.title}</a></li>`)}</ul>
`,
)}</nav>
</details>`;

const outline = ({ headings, language, area }: Page): Html | false => {
  const shown = headings.filter(({ level }) => level <= outlineLevelMax(area));
  if (shown.length < OUTLINE_HEADINGS_MIN) return html`<div class="outline"></div>`;
  return html`<nav class="outline" aria-label="${pageTexts[language].outline}"><h2>${pageTexts[language].outline}</h2>
<ul>${shown.map(({ level, id, text }) => html`<li${level > 2 && html` class="deeper"`}><a href="#${id}">${text}</a></li>`)}</ul>
</nav>`;
};

/** Renders links to the previous and next page. */
const steps = (page: Page, { navigation: sections }: Frame): Html | false => {
  const section = sections.find(({ links }) => links.some(({ address }) => address === page.address));
  if (section === undefined) return false;
  const place = section.links.findIndex(({ address }) => address === page.address);
  const before = section.links[place - 1];
  const after = section.links[place + 1];
  const texts = pageTexts[page.language];
  return html`<nav class="steps" aria-label="${texts.steps}">
${before !== undefined && html`<a href="${before.address}" rel="prev"><span>${texts.before}</span> ${before.title}</a>`}
${after !== undefined && html`<a class="next" href="${after.address}" rel="next"><span>${texts.next}</span> ${after.title}</a>`}
</nav>`;
};

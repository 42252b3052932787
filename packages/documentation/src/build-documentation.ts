import { hash } from 'node:crypto';
import { openapiDocument } from '@svc/contracts/openapi';
import { bundleClient } from './bundle-client.ts';
import { LLMS_PATH, llmsText } from './llms-text.ts';
import { linkMarkdown, type RenderedMarkdown, renderMarkdown } from './markdown/index.ts';
import { packPartnerSdk } from './pack-partner-sdk.ts';
import { type Frame, type NavigationSection, type Page, renderPage, searchIndex } from './page/index.ts';
import { referencePages } from './reference/index.ts';
import {
  addressOf,
  INDEX_SOURCE,
  inLanguage,
  isGuide,
  LANGUAGES,
  type Language,
  languageOf,
  readSources,
  resolveHref,
  type Sources,
  siteSections,
  sourcesIn,
} from './site/index.ts';

/** Files by their path below the site's root, such as `docs/quick-start.html`. */
export type SiteFiles = ReadonlyMap<string, string | Uint8Array>;

/** Download path of the packed partner SDK. */
export const PARTNER_SDK_PATH = 'docs/partner-sdk.tgz';

/** Path of the page for unknown addresses. */
export const NOT_FOUND_PATH = 'docs/404.html';

export interface BuildOptions {
  /** The folder `docs/`. */
  readonly docsDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Builds the documentation from a folder of Markdown and from the contract. Throws for a guide without a title. */
export const buildDocumentation = async ({ docsDirectory, environment }: BuildOptions): Promise<SiteFiles> => {
  const sources = readSources(docsDirectory);
  const guides = [...sources.keys()].map((source) => guidePage(source, sources));
  const reference = referencePages(openapiDocument());
  const pages = [...guides, ...reference];
  const [{ script, stylesheet }, partnerSdk] = await Promise.all([bundleClient(), packPartnerSdk(environment)]);
  const search = searchIndex(pages);
  const assets = new Map([
    [`assets/docs-${digest(script)}.js`, script],
    [`assets/docs-${digest(stylesheet)}.css`, stylesheet],
    [`assets/docs-search-${digest(search)}.json`, search],
  ]);
  const [scriptPath = '', stylesheetPath = '', searchPath = ''] = [...assets.keys()].map((path) => `/${path}`);
  const framesOf = (language: Language): Frame => ({
    navigation: navigationOf(language, pages, reference),
    script: scriptPath,
    stylesheet: stylesheetPath,
    searchIndex: searchPath,
  });
  const frames = { en: framesOf('en'), it: framesOf('it') };
  return new Map<string, string | Uint8Array>([
    ...pages.map((page) => [`${page.address.slice(1)}.html`, renderPage(page, frames[page.language])] as const),
    ...pages.map((page) => [`${page.address.slice(1)}.md`, page.markdown] as const),
    [LLMS_PATH, llmsText([...frames.en.navigation, italianGuides(pages)], pages)],
    [NOT_FOUND_PATH, renderPage(notFoundPage(), frames.en)],
    [PARTNER_SDK_PATH, partnerSdk],
    ...assets,
  ]);
};

const digest = (text: string): string =>
  hash('sha256', text, 'base64url')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10);

const guidePage = (source: string, sources: Sources): Page => {
  const language = languageOf(source);
  const rendered = render(source, sources.get(source) ?? '', new Set(sources.keys()));
  if (rendered.title === '') throw new Error(`docs/${source} has no title.`);
  const known = new Set(sources.keys());
  const markdown = linkMarkdown(sources.get(source) ?? '', (href) => resolveHref(source, href, known));
  return { address: addressOf(source), language, translations: translationsOf(source, sources), ...rendered, markdown };
};

const translationsOf = (source: string, sources: Sources): Page['translations'] => {
  if (!isGuide(source)) return {};
  const found = LANGUAGES.map((language) => [language, inLanguage(source, language)] as const);
  return Object.fromEntries(
    found.filter(([, path]) => sources.has(path)).map(([language, path]) => [language, addressOf(path)]),
  );
};

const render = (source: string, markdown: string, known: ReadonlySet<string>): RenderedMarkdown =>
  renderMarkdown(markdown, (href) => resolveHref(source, href, known), languageOf(source));

const navigationOf = (language: Language, pages: readonly Page[], reference: readonly Page[]): NavigationSection[] => {
  const byAddress = new Map(pages.map((page) => [page.address, page]));
  const sections = siteSections.map((section) => ({
    title: section.titles[language],
    links: sourcesIn(language, section).map((source) => {
      const page = byAddress.get(addressOf(source));
      if (page === undefined) throw new Error(`docs/${source} is in the navigation but does not exist.`);
      return page;
    }),
  }));
  return [...sections, { title: 'API', links: reference }];
};

/** Lists the Italian guides for `/llms.txt`. */
const italianGuides = (pages: readonly Page[]): NavigationSection => ({
  title: 'Guides in Italian',
  links: pages.filter(({ language }) => language === 'it'),
});

const notFoundPage = (): Page => ({
  address: '/docs/404',
  language: 'en',
  translations: {},
  title: 'No such page',
  headings: [],
  markdown: '',
  content: render(
    INDEX_SOURCE,
    '# No such page\n\nStart again at the [documentation](index.md).',
    new Set([INDEX_SOURCE]),
  ).content,
});

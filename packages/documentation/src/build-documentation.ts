import { hash } from 'node:crypto';
import { openapiDocument } from '@svc/contracts/openapi';
import { bundleClient } from './bundle-client.ts';
import { LLMS_PATH, llmsText } from './llms-text.ts';
import { linkMarkdown, type RenderedMarkdown, renderMarkdown } from './markdown/index.ts';
import { packPartnerSdk } from './pack-partner-sdk.ts';
import { type Frame, type NavigationSection, type Page, renderPage, searchIndex } from './page/index.ts';
import { referencePages } from './reference/index.ts';
import { addressOf, INDEX_SOURCE, readSources, resolveHref, type Sources, siteSections } from './site/index.ts';

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
  const frame: Frame = {
    navigation: navigationOf(pages, reference),
    script: scriptPath,
    stylesheet: stylesheetPath,
    searchIndex: searchPath,
  };
  return new Map<string, string | Uint8Array>([
    ...pages.map((page) => [`${page.address.slice(1)}.html`, renderPage(page, frame)] as const),
    ...pages.map((page) => [`${page.address.slice(1)}.md`, page.markdown] as const),
    [LLMS_PATH, llmsText(frame.navigation, pages)],
    [NOT_FOUND_PATH, renderPage(notFoundPage(), frame)],
    [PARTNER_SDK_PATH, partnerSdk],
    ...assets,
  ]);
};

const digest = (text: string): string =>
  hash('sha256', text, 'base64url')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10);

const guidePage = (source: string, sources: Sources): Page => {
  const rendered = render(source, sources.get(source) ?? '', new Set(sources.keys()));
  if (rendered.title === '') throw new Error(`docs/${source} has no title.`);
  const known = new Set(sources.keys());
  const markdown = linkMarkdown(sources.get(source) ?? '', (href) => resolveHref(source, href, known));
  return { address: addressOf(source), ...rendered, markdown };
};

const render = (source: string, markdown: string, known: ReadonlySet<string>): RenderedMarkdown =>
  renderMarkdown(markdown, (href) => resolveHref(source, href, known));

const navigationOf = (pages: readonly Page[], reference: readonly Page[]): NavigationSection[] => {
  const byAddress = new Map(pages.map((page) => [page.address, page]));
  const sections = siteSections.map(({ title, sources }) => ({
    title,
    links: sources.map((source) => {
      const page = byAddress.get(addressOf(source));
      if (page === undefined) throw new Error(`docs/${source} is in the navigation but does not exist.`);
      return page;
    }),
  }));
  return [...sections, { title: 'API', links: reference }];
};

const notFoundPage = (): Page => ({
  address: '/docs/404',
  title: 'No such page',
  headings: [],
  markdown: '',
  content: render(
    INDEX_SOURCE,
    '# No such page\n\nStart again at the [documentation](index.md).',
    new Set([INDEX_SOURCE]),
  ).content,
});

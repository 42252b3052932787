import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DESCRIPTION_VERSION, openapiDocument } from '@svc/contracts/openapi';
import { type BuildOptions as BundleOptions, build, type OutputFile } from 'esbuild';
import { linkMarkdown, renderMarkdown, toMarkdownAddress } from './markdown/render-markdown.ts';
import { type Frame, type NavigationSection, type Page, renderPage } from './page/render-page.ts';
import { searchEntries } from './page/search-entries.ts';
import { referencePages } from './reference/reference-pages.ts';
import {
  areaOf,
  inLanguage,
  isGuide,
  LANGUAGES,
  type Language,
  languageOf,
  siteSections,
  sourcesIn,
} from './site/guide-sections.ts';
import {
  addressOf,
  type Pictures,
  ROOT,
  readPictures,
  readSources,
  resolveHref,
  type Sources,
  sizeOf,
} from './site/sources.ts';

/** Scripts and styles of the pages. */
interface ClientBundle {
  /** Blocks the first paint; applies remembered choices. */
  readonly earlyScript: string;
  readonly script: string;
  readonly stylesheet: string;
  /** All files by path below the site's root, including parts that the script loads later. */
  readonly files: ReadonlyMap<string, string>;
}

/** Bundles the scripts and styles. The names of the files contain their digests. */
const bundleClient = async (): Promise<ClientBundle> => {
  const built = await Promise.all([
    // A script that blocks the first paint cannot be a module, hence shares no part with one.
    bundle({ 'docs-early': '../client/early.ts' }, { format: 'iife' }),
    bundle({ 'docs-main': '../client/main.ts' }, { format: 'esm', splitting: true }),
    bundle({ 'docs-style': '../style/docs.css' }, {}),
  ]);
  const files = new Map(built.flat().map(({ path, text }) => [`assets/${basename(path)}`, text]));
  const pathOf = (name: string): string => `/${[...files.keys()].find((path) => path.includes(name)) ?? ''}`;
  return {
    earlyScript: pathOf('docs-early-'),
    script: pathOf('docs-main-'),
    stylesheet: pathOf('docs-style-'),
    files,
  };
};

const bundle = async (
  entries: Readonly<Record<string, string>>,
  options: Pick<BundleOptions, 'format' | 'splitting'>,
): Promise<readonly OutputFile[]> => {
  const { outputFiles } = await build({
    ...options,
    entryPoints: Object.entries(entries).map(([out, file]) => ({
      in: fileURLToPath(new URL(file, import.meta.url)),
      out,
    })),
    bundle: true,
    minify: true,
    write: false,
    outdir: 'assets',
    external: ['/assets/*.woff2'],
    entryNames: '[name]-[hash]',
    chunkNames: 'docs-part-[hash]',
    target: 'es2023',
    logLevel: 'silent',
  });
  return outputFiles;
};

const SDK = fileURLToPath(new URL('..', import.meta.resolve('@svc/partner-sdk')));
const WORKSPACE_BINARIES = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
const TIMEOUT_MS = 120_000;

/**
 * Packs the partner SDK as it would be published: compiled, and packed by pnpm, which inserts real versions into its
 * manifest. `environment` locates pnpm in a container; a checkout has pnpm installed.
 */
const packPartnerSdk = async (environment: NodeJS.ProcessEnv): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-partner-sdk-'));
  try {
    const env = {
      ...environment,
      PATH: [WORKSPACE_BINARIES, environment['PATH']].join(delimiter),
      pnpm_config_verify_deps_before_run: 'false',
    };
    await promisify(execFile)('pnpm', ['pack', '--pack-destination', folder], { cwd: SDK, env, timeout: TIMEOUT_MS });
    const [name = ''] = await readdir(folder);
    return await readFile(join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Returns the version in the manifest of the partner SDK. */
const readSdkVersion = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(SDK, 'package.json'), 'utf8'));
  return String(version);
};

/** Path of the list of pages for language models (llmstxt.org). */
const LLMS_PATH = 'llms.txt';

const LEAD_CHARACTERS_MAX = 200;

/** Lists the pages of the navigation as Markdown, each with the beginning of its text. */
const llmsText = (navigation: readonly NavigationSection[], pages: readonly Page[]): string => {
  const leads = new Map(pages.map(({ address, markdown }) => [address, leadOf(markdown)]));
  const sections = navigation.map(({ title, links }) => {
    const items = links.map((link) => {
      const lead = leads.get(link.address) ?? '';
      return `- [${link.title}](${toMarkdownAddress(link.address)})${lead === '' ? '' : `: ${lead}`}`;
    });
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  return `# svc

> Bring your own AI subscription to other people’s apps: registered-app OAuth, delegated chat and audio inference on a user’s subscription, signed lifecycle webhooks, and an API-key gateway in the common chat-completions wire format with proof of the EU provider.

Every page is Markdown at its address with \`.md\`. The API as OpenAPI 3.1: [/v1/openapi.json](/v1/openapi.json). Webhook events as AsyncAPI 3.0: [/v1/asyncapi.json](/v1/asyncapi.json).

${sections.join('\n')}`;
};

/** Returns the first sentence below the title. */
const leadOf = (markdown: string): string => {
  const paragraph = markdown.split(/\n{2,}/).find((text) => /^[\p{L}*`[]/u.test(text)) ?? '';
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]|\s+/g, (part) => (part.trim() === '' ? ' ' : ''));
  const [sentence = ''] = plain.split(/(?<=[.!?])\s/, 1);
  return sentence.slice(0, LEAD_CHARACTERS_MAX);
};

/** Files by their path below the site's root, such as `docs/quick-start.html`. */
export type SiteFiles = ReadonlyMap<string, string | Uint8Array>;

/** Download path of the packed partner SDK. */
export const PARTNER_SDK_PATH = 'docs/partner-sdk.tgz';

/** Paths of the pages for unknown addresses. */
export const NOT_FOUND_PATHS = { en: 'docs/404.html', it: 'docs/it/404.html' } as const satisfies Record<
  Language,
  string
>;

export interface BuildOptions {
  /** The folder `docs/`. */
  readonly docsDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Builds the documentation from a folder of Markdown and from the contract. Throws for a guide without a title. */
export const buildDocumentation = async ({ docsDirectory, environment }: BuildOptions): Promise<SiteFiles> => {
  const sources = readSources(docsDirectory);
  const pictures = readPictures(docsDirectory);
  const guides = [...sources.keys()].map((source) => guidePage(source, sources, pictures));
  const reference = referencePages(openapiDocument());
  const pages = [...guides, ...reference];
  const [client, partnerSdk, sdkVersion] = await Promise.all([
    bundleClient(),
    packPartnerSdk(environment),
    readSdkVersion(),
  ]);
  const versions = `API ${DESCRIPTION_VERSION} · SDK ${sdkVersion}`;
  const entries = new Map(LANGUAGES.map((language) => [language, searchEntries(pages, language)]));
  const entriesPath = (language: Language): string =>
    `assets/docs-search-${language}-${digest(entries.get(language) ?? '')}.json`;
  const framesOf = (language: Language): Frame => ({
    navigation: navigationOf(language, pages, reference),
    earlyScript: client.earlyScript,
    script: client.script,
    stylesheet: client.stylesheet,
    searchEntries: `/${entriesPath(language)}`,
    versions,
  });
  const frames = { en: framesOf('en'), it: framesOf('it') };
  return new Map<string, string | Uint8Array>([
    ...pages.map((page) => [`${page.address.slice(1)}.html`, renderPage(page, frames[page.language])] as const),
    ...pages.map((page) => [`${page.address.slice(1)}.md`, page.markdown] as const),
    [LLMS_PATH, llmsText([...frames.en.navigation, italianGuides(pages)], pages)],
    ...LANGUAGES.map(
      (language) => [NOT_FOUND_PATHS[language], renderPage(notFoundPage(language), frames[language])] as const,
    ),
    [PARTNER_SDK_PATH, partnerSdk],
    ...[...pictures].map(([path, bytes]) => [addressOf(path).slice(1), bytes] as const),
    ...client.files,
    ...[...entries].map(([language, text]) => [entriesPath(language), text] as const),
  ]);
};

const digest = (text: string): string =>
  hash('sha256', text, 'base64url')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10);

const guidePage = (source: string, sources: Sources, pictures: Pictures): Page => {
  const language = languageOf(source);
  const known = new Set([...sources.keys(), ...pictures.keys()]);
  const sizes = new Map([...pictures].map(([path, bytes]) => [addressOf(path), sizeOf(bytes)] as const));
  const rendered = renderMarkdown(sources.get(source) ?? '', {
    resolveLink: (href) => resolveHref(source, href, known),
    language,
    pictures: sizes,
  });
  if (rendered.title === '') throw new Error(`docs/${source} has no title.`);
  const markdown = linkMarkdown(sources.get(source) ?? '', (href) => resolveHref(source, href, known));
  return {
    address: addressOf(source),
    language,
    area: areaOf(source),
    translations: translationsOf(source, sources),
    ...rendered,
    markdown,
  };
};

const translationsOf = (source: string, sources: Sources): Page['translations'] => {
  if (!isGuide(source)) return {};
  const found = LANGUAGES.map((language) => [language, inLanguage(source, language)] as const);
  return Object.fromEntries(
    found.filter(([, path]) => sources.has(path)).map(([language, path]) => [language, addressOf(path)]),
  );
};

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

const NOT_FOUND_TEXTS: Readonly<Record<Language, { readonly title: string; readonly text: string }>> = {
  en: { title: 'No such page', text: `Start again at the [documentation](${ROOT}).` },
  it: { title: 'Pagina non trovata', text: `Riparti dalla [documentazione](${ROOT}/it).` },
};

const notFoundPage = (language: Language): Page => {
  const { title, text } = NOT_FOUND_TEXTS[language];
  const { content } = renderMarkdown(`# ${title}\n\n${text}`, { resolveLink: (href) => href });
  const address = `/${NOT_FOUND_PATHS[language].replace('.html', '')}`;
  return { address, language, area: 'guides', translations: {}, title, headings: [], markdown: '', content };
};

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { allRoutes } from '@svc/contracts';
import { DESCRIPTION_VERSION, openapiDocument } from '@svc/contracts/openapi';
import { FONT_FILES } from '@svc/pages';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildDocumentation, NOT_FOUND_PATHS, PARTNER_SDK_PATH, type SiteFiles } from '../src/index.ts';
import { codeSamples } from '../src/reference/code-samples.ts';
import { readApi } from '../src/reference/openapi.ts';

const docsDirectory = fileURLToPath(new URL('../../../docs/', import.meta.url));
/** Scripts and styles of a page, uncompressed, small enough for slow connections. */
const ASSET_BYTES_MAX = 32 * 1024;

let files: SiteFiles;
let pages: readonly (readonly [string, string])[];

beforeAll(async () => {
  files = await buildDocumentation({ docsDirectory, environment: process.env });
  pages = [...files].flatMap(([path, content]) =>
    path.endsWith('.html') && typeof content === 'string' ? [[path, content] as const] : [],
  );
});

const idsOf = (page: string): string[] => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

describe('the built pages', () => {
  test('wrap data on narrow screens, but no drawing', () => {
    const [, architecture = ''] = pages.find(([path]) => path === 'docs/architecture.html') ?? [];
    expect(architecture).toMatch(/<figure class="code">\s*<button[^>]*>Copy<\/button>\s*<pre[^>]*><code>[^<]*┌─/);
    const [, errors = ''] = pages.find(([path]) => path === 'docs/errors.html') ?? [];
    expect(errors).toContain('<figure class="code is-data">');
  });

  test('have no broken links or anchors', () => {
    const idsByAddress = new Map(
      pages.map(([path, page]) => [`/${path.replace(/\.html$/, '')}`, new Set(idsOf(page))]),
    );
    const known = new Set([
      ...[
        '/',
        '/account',
        '/connections',
        '/plans',
        '/usage',
        '/verify',
        '/v1/openapi.json',
        '/v1/asyncapi.json',
        '/favicon.svg',
      ],
      ...FONT_FILES.map(({ path }) => path),
    ]);
    for (const path of files.keys()) known.add(`/${path}`);
    const dead: string[] = [];
    for (const [path, page] of pages) {
      for (const [, href = ''] of page.matchAll(/(?:href|src|data-index)="([^"]+)"/g)) {
        const [address = '', anchor] = href.split('#', 2);
        const ids = address === '' ? new Set(idsOf(page)) : idsByAddress.get(address);
        const isThere = anchor === undefined ? ids !== undefined || known.has(address) : ids?.has(anchor);
        if (!isThere && !href.startsWith('https://')) dead.push(`${path}: ${href}`);
      }
    }
    expect(dead).toEqual([]);
  });

  test('contain no inline script, no inline style and no foreign resource', () => {
    for (const [path, page] of pages) {
      expect(page, path).not.toMatch(/<style|<script(?![^>]* src=")|\sstyle="|\son[a-z]+="|<iframe/);
      const loaded = page.replaceAll(/<link rel="alternate"[^>]*>/g, '');
      for (const [, address = ''] of loaded.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)) {
        expect(address, path).toMatch(/^\/(assets\/(docs|geist)-|docs\/(design-system|pictures)\/|favicon)/);
      }
    }
  });

  test('have one first-level heading, a unique title and unique ids', () => {
    const titles = pages.map(([, page]) => /<title>([^<]+)</.exec(page)?.[1]);
    expect(new Set(titles).size).toBe(pages.length);
    for (const [path, page] of pages) {
      expect(page.match(/<h1/g), path).toHaveLength(1);
      expect(new Set(idsOf(page)).size, path).toBe(idsOf(page).length);
    }
  });

  test('name their language, their translation and the switch to it', () => {
    const english = String(files.get('docs/connect.html'));
    const italian = String(files.get('docs/it/connect.html'));
    expect(english).toContain('<html lang="en">');
    expect(italian).toContain('<html lang="it">');
    for (const page of [english, italian]) {
      expect(page).toContain('<link rel="alternate" hreflang="en" href="/docs/connect">');
      expect(page).toContain('<link rel="alternate" hreflang="it" href="/docs/it/connect">');
      expect(page).toContain('<link rel="alternate" hreflang="x-default" href="/docs/connect">');
    }
    expect(english).toContain('<a class="language" href="/docs/it/connect" hreflang="it" lang="it">Italiano</a>');
    expect(italian).toContain('<a class="language" href="/docs/connect" hreflang="en" lang="en">English</a>');
    expect(italian).toContain('<a href="/docs/it/call">Chiama</a>');
    expect(italian).toContain('<a href="/docs/errors" hreflang="en" lang="en">');
    expect(files.get('docs/errors.html')).not.toContain('rel="alternate"');
    expect(files.get('docs/errors.html')).toContain('<a class="language" href="/docs/it"');
  });

  test('are searched in the language of the reader, by area', () => {
    const entriesIn = (language: string): readonly { a: string; l: string; g: string }[] => {
      const [, list = '[]'] = [...files].find(([path]) => path.startsWith(`assets/docs-search-${language}-`)) ?? [];
      return JSON.parse(String(list));
    };
    const english = entriesIn('en');
    const italian = entriesIn('it');
    expect(english.filter(({ l }) => l !== 'en')).toEqual([]);
    expect(english).toContainEqual(expect.objectContaining({ a: '/docs/connect', g: 'guides' }));
    expect(italian).toContainEqual(expect.objectContaining({ a: '/docs/it/connect#conserva-i-token', l: 'it' }));
    expect(italian.filter(({ a }) => a.startsWith('/docs/connect'))).toEqual([]);
    // English alone, hence searched in both languages.
    for (const entries of [english, italian]) {
      expect(entries).toContainEqual(expect.objectContaining({ a: '/docs/errors', g: 'reference' }));
      expect(entries).toContainEqual(expect.objectContaining({ a: '/docs/runbooks/outbox-stuck', g: 'operators' }));
    }
  });

  test('show the versions of the API and of the SDK', () => {
    for (const [path, page] of pages) expect(page, path).toContain(`API ${DESCRIPTION_VERSION} · SDK `);
  });

  test.each(['docs/call.html', 'docs/it/call.html', 'docs/gateway.html', 'docs/it/gateway.html'])(
    'give an example in four languages, the first one checked: %s',
    (path) => {
      const [group = ''] = /<fieldset class="tabs">[\s\S]*?<\/fieldset>/.exec(String(files.get(path))) ?? [];
      const labels = [...group.matchAll(/value="([^"]+)"/g)].map(([, tab = '']) => tab);
      expect(labels).toEqual([expect.stringMatching(/sdk$/), 'typescript', 'python', 'curl']);
      expect(group.match(/ checked/g)).toHaveLength(1);
      for (const tab of labels) expect(group).toContain(`<div class="tab-panel" data-tab="${tab}">`);
    },
  );

  test.each(['connect', 'call', 'receive-webhooks', 'gateway', 'restore'])(
    'draw the flow of %s in both languages, and describe it in words',
    (name) => {
      for (const path of [`docs/${name}.html`, `docs/it/${name}.html`]) {
        const [figure = ''] = /<figure class="diagram">[\s\S]*?<\/figure>/.exec(String(files.get(path))) ?? [];
        const arrows = figure.match(/class="message"/g) ?? [];
        expect(arrows.length, path).toBeGreaterThan(6);
        expect(figure.match(/<li>/g), path).toHaveLength(arrows.length);
      }
    },
  );

  test('show every operation of the contract, and every error code', () => {
    const all = pages.map(([, page]) => page).join('');
    for (const { operationId } of allRoutes) expect(all).toContain(`id="${operationId.toLowerCase()}"`);
    expect(files.get('docs/errors.html')).toContain('upstream_timeout_uncertain');
  });

  test('include one for unknown addresses in each language', () => {
    expect(files.get(NOT_FOUND_PATHS.en)).toMatch(/<html[^>]* lang="en".*No such page/s);
    expect(files.get(NOT_FOUND_PATHS.it)).toMatch(/<html[^>]* lang="it".*Pagina non trovata/s);
  });

  test('are light', () => {
    for (const [path, content] of files) {
      if (/^assets\/.*\.(js|css)$/.test(path)) expect(content.length, path).toBeLessThan(ASSET_BYTES_MAX);
    }
  });
});

describe('Markdown for language models', () => {
  const notFound = new Set<string>(Object.values(NOT_FOUND_PATHS));

  test('is served for every page with .md, with a title, and links to existing Markdown', () => {
    const dead: string[] = [];
    for (const [path] of pages.filter(([path]) => !notFound.has(path))) {
      const markdown = String(files.get(path.replace(/\.html$/, '.md')));
      expect(markdown, path).toMatch(/^(<!--.*-->\s*)?# \S/);
      for (const [, href = ''] of markdown.matchAll(/\]\((\/docs[^)#\s]*)/g))
        if (!files.has(href.slice(1))) dead.push(`${path}: ${href}`);
    }
    expect(dead).toEqual([]);
  });

  test('describes every operation with its path', () => {
    const reference = [...files].filter(([path]) => path.startsWith('docs/reference/') && path.endsWith('.md'));
    const text = reference.map(([, content]) => String(content)).join('');
    for (const { method, path } of allRoutes) expect(text).toContain(`\`${method} ${path}\``);
  });

  test('is listed in llms.txt, page by page', () => {
    const text = String(files.get('llms.txt'));
    expect(text).toMatch(/^# svc\n\n> /);
    for (const [, href = ''] of text.matchAll(/\]\((\/docs[^)]*)\)/g))
      expect(files.has(href.slice(1)), href).toBe(true);
    expect(text).toContain('(/docs/quick-start.md): ');
    expect(text).toContain('(/docs/reference/webhooks.md)');
  });
});

describe('the samples of the reference', () => {
  test('are valid TypeScript and shell, for every operation', async () => {
    const samples = readApi(openapiDocument()).operations.map(codeSamples);
    const codeIn = (tab: 'curl' | 'typescript') => samples.map((sample) => sample.get(tab)?.code ?? '');
    const typescript = codeIn('typescript').map((code, index) => `export const f${index} = async () => {\n${code}\n};`);
    await transform(typescript.join('\n'), { loader: 'ts' });
    await promisify(execFile)('sh', ['-n', '-c', codeIn('curl').join('\n')]);
    expect(codeIn('curl').join('\n')).not.toMatch(/undefined|\{\w+\}/);
  });
});

describe('the packed partner SDK', () => {
  test('contains code, declarations, README and license, but no source or test', () => {
    const packed = files.get(PARTNER_SDK_PATH);
    const names = tarNames(gunzipSync(packed ?? ''));
    expect(names).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        ...['esm', 'cjs'].flatMap((format) => [`dist/${format}/index.js`, `dist/${format}/index.d.ts`]),
      ]),
    );
    expect(names.filter((name) => /\.test\.|^(src|test)\/|tsconfig/.test(name))).toEqual([]);
    expect(names.filter((name) => name.endsWith('.js'))).toHaveLength(
      names.filter((name) => name.endsWith('.d.ts')).length,
    );
  });
});

/** Lists the names in a ustar archive, without npm's folder. */
const tarNames = (archive: Buffer): string[] => {
  const names: string[] = [];
  for (let offset = 0; archive[offset] !== undefined && archive[offset] !== 0; ) {
    names.push(archive.toString('utf8', offset, archive.indexOf(0, offset)).replace(/^package\//, ''));
    const size = Number.parseInt(archive.toString('latin1', offset + 124, offset + 135), 8);
    offset += 512 + Math.ceil(size / 512) * 512;
  }
  return names;
};

import { readFonts } from '@svc/pages/read-fonts';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM_ARGS } from '../find-chromium.ts';
import { comparePicture } from './compare-picture.ts';

/** The two looks of a page: between them, both languages, both themes and both widths. */
export const LOOKS = [
  { name: 'wide', locale: 'en', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'phone', locale: 'it', colorScheme: 'dark', width: 390, height: 780 },
] as const;

export type Look = (typeof LOOKS)[number];

/** Sets the width and the theme of a page. */
export const wear = async (page: Page, { colorScheme, width, height }: Look): Promise<void> => {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
};

/** Ids, whose characters are others in each run. Pictures show as many zeros. */
const VARYING_ID = String.raw`\b(app|evt|key|msg|req|ses|usr|whsec)_([0-9A-Za-z]{4,})`;
const VARYING_ORIGIN = String.raw`127\.0\.0\.1:\d+`;

const FIX_VARYING = `(() => {
  const id = new RegExp(${JSON.stringify(VARYING_ID)}, 'g');
  const origin = new RegExp(${JSON.stringify(VARYING_ORIGIN)}, 'g');
  const fix = (text) => text
    .replace(id, (whole, prefix, rest) => prefix + '_' + '0'.repeat(rest.length))
    .replace(origin, 'svc.example');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = fix(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input')) {
    const text = fix(input.value);
    if (text !== input.value) input.value = text;
  }
})()`;

/** Takes a picture of what a window shows, or of one element, without what differs between two runs. */
export const takePicture = async (page: Page, element: Locator | undefined = undefined): Promise<Uint8Array> => {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate(FIX_VARYING);
  return await (element ?? page).screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' });
};

const ORIGIN = 'http://svc.example';

/** Files by path that a document loads, such as `/assets/page.css`. */
type DocumentFiles = ReadonlyMap<string, string | Uint8Array>;

/** Shows a document that a renderer has returned, with the fonts of the pages, and no server. */
const showDocument = async (page: Page, document: string, files: DocumentFiles = new Map()): Promise<void> => {
  const served: DocumentFiles = new Map<string, string | Uint8Array>([...readFonts(), ...files, ['/', document]]);
  await page.unrouteAll();
  await page.route(`${ORIGIN}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const body = served.get(path);
    if (body === undefined) return await route.fulfill({ status: 404 });
    await route.fulfill({ contentType: typeOf(path), body: typeof body === 'string' ? body : Buffer.from(body) });
  });
  await page.goto(`${ORIGIN}/`);
};

const typeOf = (path: string): string => {
  if (path.endsWith('.css')) return 'text/css';
  if (path.endsWith('.js')) return 'text/javascript';
  return path.endsWith('.woff2') ? 'font/woff2' : 'text/html; charset=utf-8';
};

/** Compares pictures of documents with the references in a folder. */
export interface PictureBook {
  /** Takes a picture in each look: wide, light and English, then on a phone, dark and Italian. */
  readonly compare: (
    name: string,
    documentIn: (locale: Look['locale']) => string,
    files?: DocumentFiles,
  ) => Promise<void>;
}

/** Starts a browser before the tests of a file and ends it after them. */
export const usePictureBook = (folder: string, chromiumPath: string | undefined): PictureBook => {
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: CHROMIUM_ARGS,
    });
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());
  return {
    compare: async (name, documentIn, files) => {
      for (const look of LOOKS) {
        await wear(page, look);
        await showDocument(page, documentIn(look.locale), files);
        comparePicture({ folder, name: `${name}-${look.name}`, bytes: await takePicture(page) });
      }
    },
  };
};

import { readFonts } from '@svc/pages/read-fonts';
import type { Page } from 'playwright-core';

const ORIGIN = 'http://svc.example';

/** Files by path that a document loads, such as `/assets/page.css`. */
export type DocumentFiles = ReadonlyMap<string, string | Uint8Array>;

/** Shows a document that a renderer has returned, with the fonts of the pages, and no server. */
export const showDocument = async (page: Page, document: string, files: DocumentFiles = new Map()): Promise<void> => {
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

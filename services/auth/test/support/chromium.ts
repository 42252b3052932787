import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { CHROMIUM_ARGS, findChromium } from '@svc/testing';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** A real browser, and what it holds against the pages that it has shown. */
export interface Chromium {
  /** Opens a new window, with separate cookies, at an address. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Another tab of the same window's browser. */
  readonly openTab: (beside: Page, url: string) => Promise<Page>;
  /** Violations of the pages' own policy, and addresses beyond these origins that were asked for. */
  readonly complaints: string[];
  readonly close: () => Promise<void>;
}

/** Path of Chromium; says loudly that the tests are skipped if there is none. */
export const chromiumPath = await findChromium();

/** Starts it; requests to other origins than these are complaints. */
export const startChromium = async (origins: readonly string[]): Promise<Chromium> => {
  if (chromiumPath === undefined) throw new Error('no browser');
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath,
    args: CHROMIUM_ARGS,
  });
  const complaints: string[] = [];
  const watch = async (page: Page, url: string): Promise<Page> => {
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => {
      if (/Content.Security.Policy|Refused to/i.test(message.text())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && !origins.includes(origin)) complaints.push(request.url());
    });
    await page.goto(url);
    return page;
  };
  return {
    open: async (url, options) => await watch(await (await browser.newContext(options)).newPage(), url),
    openTab: async (beside, url) => await watch(await beside.context().newPage(), url),
    complaints,
    close: () => browser.close(),
  };
};

/** The page of an app to which browsers come back, and which remembers with what. */
export interface CallbackPage {
  readonly redirectUri: string;
  readonly origin: string;
  readonly callbacks: URL[];
  readonly close: () => void;
}

/** Starts it on a free port. */
export const startCallbackPage = async (): Promise<CallbackPage> => {
  const callbacks: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/callback') callbacks.push(url);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>App</title>Back at the app');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  const origin = `http://127.0.0.1:${address.port}`;
  return { redirectUri: `${origin}/callback`, origin, callbacks, close: () => server.close() };
};

/** Colors do not depend on the width, nor widths on the colors. */
const LOOKS = [
  { width: 1280, height: 900, colorScheme: 'light' },
  { width: 360, height: 780, colorScheme: 'dark' },
] as const;

/** Checks a page with axe-core, wide and light, narrow and dark; leaves pictures where `SCREENSHOTS_DIR` is set. */
export const inspectPage = async (page: Page, name: string): Promise<void> => {
  const pictures = process.env['SCREENSHOTS_DIR'] ?? '';
  for (const { colorScheme, ...size } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    const look = `${name}-${size.width}-${colorScheme}`;
    if (pictures !== '') {
      await mkdir(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `${look}.png`), fullPage: true });
    }
    expect(await findViolations(page), look).toEqual([]);
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isTooWide), `${look} scrolls sideways`).toBe(false);
  }
};

/** Runs axe-core in the page as a debugger does: the page's own policy would refuse it. */
const findViolations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe-core answered nothing'];
};

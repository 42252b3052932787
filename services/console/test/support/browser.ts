import { CHROMIUM_ARGS } from '@svc/testing';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

/** Playwright says so where a context blocks workers. */
const WORKER_BLOCKED = 'Service Worker registration blocked by Playwright';

/** Returns true if browser tests can run here. */
export const hasChromium = (): boolean => inject('chromiumPath') !== '';

/** A browser for the tests of one file. Any complaint of a page fails the test in which it came up. */
export interface TestBrowser {
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<Page>;
  /** Complaints that the running test expects; matched as part of their text. */
  readonly expectComplaints: (...parts: string[]) => void;
}

/** Starts a browser before the tests of this file and ends it after them. */
export const useBrowser = (): TestBrowser => {
  let browser: Browser | undefined;
  let complaints: string[] = [];
  let expected: string[] = [];
  beforeAll(async () => {
    if (!hasChromium()) return;
    browser = await chromium.launch({
      executablePath: inject('chromiumPath'),
      args: CHROMIUM_ARGS,
    });
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    const surprising = complaints.filter((text) => !expected.some((part) => text.includes(part)));
    complaints = [];
    expected = [];
    expect(surprising).toEqual([]);
  });
  return {
    open: async (url, options = {}) => {
      if (browser === undefined) throw new Error('no browser');
      const context = await browser.newContext({
        locale: 'en-GB',
        viewport: { width: 1280, height: 900 },
        // What they answer is out of reach of `page.route`.
        serviceWorkers: 'block',
        ...options,
      });
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      // The browser itself reports violations of the policy and failed requests here.
      page.on('console', (message) => {
        const isComplaint = message.type() === 'error' || message.type() === 'warning';
        if (isComplaint && message.text() !== WORKER_BLOCKED) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(`${error}`));
      await page.goto(url);
      return page;
    },
    expectComplaints: (...parts) => {
      expected.push(...parts);
    },
  };
};

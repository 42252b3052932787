import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';

const LAYOUT_SHIFT_MAX = 0.02;
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

/** Returns the sum of all layout shifts since the page began to load (CLS without session windows, so never below it). */
const layoutShiftOf = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) sum += value;
      }).observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(sum), 0)));
    })`),
  );

describe.skipIf(!hasChromium())('a page of the documentation', () => {
  const console = useConsole();
  const browser = useBrowser();

  test.each([
    ['a guide on a phone', '/docs/quick-start', PHONE],
    ['a guide on a desktop', '/docs/quick-start', DESKTOP],
    ['the reference on a phone', '/docs/reference/webhooks', PHONE],
  ])('does not move when its script arrives after the first paint: %s', async (_name, path, viewport) => {
    // The policy would stop Playwright from waiting for the first paint.
    const page = await browser.open('about:blank', { viewport, bypassCSP: true });
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    // The early script blocks the first paint: it applies what the reader chose before.
    await page.route(/\/assets\/docs-(?!early-).*\.js$/, async (route) => {
      await arrived;
      await route.continue();
    });
    await page.goto(`${console.url}${path}`, { waitUntil: 'commit' });
    await page.waitForFunction(`performance.getEntriesByName('first-contentful-paint').length > 0`);
    arrive();
    await page.waitForLoadState('load');
    expect(await layoutShiftOf(page)).toBeLessThan(LAYOUT_SHIFT_MAX);
    const isMenuOpen = await page.getByRole('link', { name: 'Receive webhooks' }).first().isVisible();
    expect(isMenuOpen).toBe(viewport === DESKTOP);
  });
});

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const LOOKS = {
  wide: { size: { width: 1280, height: 900 }, colorScheme: 'light' },
  narrow: { size: { width: 360, height: 780 }, colorScheme: 'dark' },
} as const;

/** Waits for the page to follow a new size: a browser reports media queries before the callbacks of the next frame. */
const SIZE_FOLLOWED = 'new Promise((resolve) => requestAnimationFrame(resolve))';

/** Waits for color transitions, but not for endless animations. */
const COLORS_CHANGED = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished))`;

/** Viewport and color scheme: wide and light, or narrow and dark. */
export type Look = keyof typeof LOOKS;

/** Checks the current page with axe-core, by default in both looks; saves screenshots to `SCREENSHOTS_DIR` if set. */
export const inspectPage = async (
  page: Page,
  name: string,
  looks: readonly Look[] = ['wide', 'narrow'],
): Promise<void> => {
  const pictures = process.env['SCREENSHOTS_DIR'] ?? '';
  for (const { size, colorScheme } of looks.map((look) => LOOKS[look])) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(SIZE_FOLLOWED);
    await page.evaluate(COLORS_CHANGED);
    if (pictures !== '') {
      await mkdir(pictures, { recursive: true });
      await page.screenshot({ path: join(pictures, `${name}-${size.width}.png`), fullPage: true });
    }
    const where = `${name} at ${size.width} px`;
    expect(await findViolations(page), where).toEqual([]);
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isTooWide), `${where} scrolls sideways`).toBe(false);
  }
};

/** Runs axe-core through the debugger, since the page's policy would block it. */
const findViolations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe-core answered nothing'];
};

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { addPerson, openAs } from '../support/people.ts';

const LAYOUT_SHIFT_MAX = 0.02;
/** Scripts, styles, the page and its data; one more round for each would be felt on a phone. */
const REQUESTS_MAX = 40;

/** Holds every answer of the API back until it is released. */
const holdAnswers = async (page: Page): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/v1/**', async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
};

describe.skipIf(!hasChromium())('while the service has not answered', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('a press shows at once: pages, dialogs, menus and forms', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    const release = await holdAnswers(page);
    await page.getByRole('link', { name: 'Wallet', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    await page.locator('.skeleton').first().waitFor();
    await page.locator('.account-trigger').click();
    await page.getByRole('menuitemradio', { name: 'Italiano' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'API keys', exact: true }).first().click();
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Held');
    await dialog.locator('[type=submit]').click();
    await dialog.locator('[aria-busy=true]').waitFor();
    release();
    await dialog
      .getByText('Held')
      .or(page.getByRole('heading', { name: 'Your new key' }))
      .first()
      .waitFor();
  });

  test('the session is asked for before the script of the page is here', async () => {
    const person = addPerson(console, 'personal');
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const page = await openAs({ browser, console, person });
    await page.route('**/session/resume', async (route) => {
      resolve();
      await route.continue();
    });
    await page.route('**/assets/libraries-*.js', async (route) => {
      await asked;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test.each([
    ['/', 390],
    ['/', 768],
    ['/', 1280],
    ['/', 1440],
    ['/usage', 1280],
    ['/usage', 390],
    ['/keys', 390],
    ['/keys', 1280],
    ['/apps', 1280],
    ['/connections', 390],
    ['/organization/members', 390],
  ])('%s at %i pixels does not shift as responses arrive, with few requests', async (path, width) => {
    const person = addPerson(console, 'business');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, path, { viewport: { width, height: 844 } });
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    const shifts = await page.evaluate(`new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().filter((entry) => !entry.hadRecentInput)
        .map(({ value, sources }) => ({ value, sources: sources.map(({ node }) => node?.className ?? node?.nodeName) }))))
        .observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve([]), 500);
    })`);
    if (!Array.isArray(shifts)) throw new Error('no entries');
    const shift = shifts.reduce((sum: number, { value }) => sum + Number(value), 0);
    expect(shift, JSON.stringify(shifts)).toBeLessThan(LAYOUT_SHIFT_MAX);
    expect(Number(await page.evaluate(`performance.getEntriesByType('resource').length`))).toBeLessThan(REQUESTS_MAX);
    const blocking = await page.evaluate(
      `performance.getEntriesByType('resource').filter((entry) => entry.renderBlockingStatus === 'blocking').map(({ initiatorType }) => initiatorType)`,
    );
    expect(blocking).toEqual(['link']);
  });
});

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePicture, LOOKS, type Look, takePicture, wear } from '@svc/testing/pictures';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test, vi } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { addPerson, openAs } from '../support/people.ts';

const REFERENCES = join(import.meta.dirname, 'pictures');
/** Pictures of parts, which the page on the design system shows. */
const PARTS = fileURLToPath(new URL('../../../../docs/design-system/', import.meta.url));
const NOW = new Date('2026-11-26T10:00:00Z');

const PAGES = ['/', '/plans', '/connections', '/keys', '/wallet', '/usage', '/usage/alerts', '/apps', '/account'];
const EMPTY_PAGES = ['/', '/connections'];
const DOCS = { en: ['/docs', '/docs/call'], it: ['/docs/it', '/docs/it/call'] };

const nameOf = (path: string): string => path.replace(/^\//, '').replaceAll('/', '-') || 'overview';

/** Parts of pages, by page and selector. */
const PARTS_OF_PAGES = [
  ['/keys', '.card:has(.table)', 'table'],
  ['/', '.card:has(.meter)', 'meters'],
  ['/usage/alerts', 'main .card', 'form'],
  ['/apps', '.app-list', 'list'],
  ['/account', '.card:has(.rows)', 'rows'],
] as const;

const settle = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton, .loading').first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle');
};

// A browser on a busy machine takes its time.
describe.skipIf(!hasChromium())('pictures of the console', { timeout: 180_000 }, () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  const open = async (look: Look, type: 'personal' | 'business') => {
    const { locale } = look;
    const person = addPerson(console, type, locale);
    const app = type === 'business' ? furnish(console, person) : undefined;
    const options = { locale: locale === 'it' ? 'it-IT' : 'en-GB', timezoneId: 'Europe/Rome' };
    const page = await openAs({ browser, console, person }, '/account', options);
    await page.clock.setFixedTime(NOW);
    await wear(page, look);
    return { page, app };
  };
  const compare = async (page: Page, name: string, look: Look): Promise<void> => {
    await settle(page);
    comparePicture({ folder: REFERENCES, name: `${name}-${look.name}`, bytes: await takePicture(page) });
  };

  test.each(LOOKS)('of a business, $name', async (look) => {
    const { page, app } = await open(look, 'business');
    const ofApp = [`/apps/${app?.client_id}`, `/apps/${app?.client_id}/webhook`];
    for (const path of [...PAGES, ...ofApp, ...DOCS[look.locale]]) {
      await page.goto(console.url + path);
      await compare(page, nameOf(path.replace(`${app?.client_id}`, 'app').replace('/docs/it', '/docs')), look);
    }
    await page.goto(`${console.url}/keys`);
    await page.locator('.page-header .button-primary').click();
    await page.locator('.dialog').waitFor();
    await compare(page, 'dialog', look);
  });

  test.each(LOOKS)('of a person who begins, $name', async (look) => {
    const { page } = await open(look, 'personal');
    for (const path of EMPTY_PAGES) {
      await page.goto(console.url + path);
      await compare(page, `${nameOf(path)}-empty`, look);
    }
  });

  test('of parts, for the page on the design system', async () => {
    const { page } = await open(LOOKS[0], 'business');
    for (const [path, selector, name] of PARTS_OF_PAGES) {
      await page.goto(console.url + path);
      await settle(page);
      comparePicture({ folder: PARTS, name, bytes: await takePicture(page, page.locator(selector).first()) });
    }
    const { page: empty } = await open(LOOKS[0], 'personal');
    await empty.goto(`${console.url}/connections`);
    await settle(empty);
    comparePicture({ folder: PARTS, name: 'empty', bytes: await takePicture(empty, empty.locator('.empty')) });
  });
});

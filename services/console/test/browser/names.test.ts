import { newId } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { furnishOrganization } from '../support/furnish-organization.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs } from '../support/people.ts';

/** As long as a name may be, without a place to break. */
const LONG_NAME = 'W'.repeat(80);

const PATHS = [
  ...['/', '/account', '/connections', '/keys', '/usage', '/apps'],
  ...['members', 'seats', 'usage', 'audit'].map((page) => `/organization/${page}`),
];

describe.skipIf(!hasChromium())('names that people chose', () => {
  const console = useConsole();
  const browser = useBrowser();

  test.each([360, 1440])('widen no page of %i pixels', async (width) => {
    const names = { display_name: LONG_NAME, business_name: LONG_NAME };
    const person = addPerson(console, 'business', 'en', names);
    const app = furnish(console, person);
    furnishOrganization(console, person);
    app.name = LONG_NAME;
    for (const connection of person.has.connections) connection.app.name = LONG_NAME;
    for (const key of person.has.keys) key.name = LONG_NAME;
    const page = await openAs({ browser, console, person }, '/', { viewport: { width, height: 900 } });
    for (const path of PATHS) {
      await page.goto(`${console.url}${path}`);
      await page.locator('h1').waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      const excess = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect.soft(excess, path).toBe(0);
    }
  });

  test('tell the regions of two apps apart', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const [first] = person.has.connections;
    if (first === undefined) throw new Error('no connection');
    const other = { ...first, client_id: newId('app'), app: { ...first.app, name: 'Pocket' } };
    person.has.connections.push(other);
    person.has.grants.set(other.client_id, person.has.grants.get(first.client_id) ?? []);
    const page = await openAs({ browser, console, person }, '/connections');
    await page.getByRole('region', { name: 'Where it is connected: Pocket' }).waitFor();
    expect(await findViolations(page, ['landmark-unique'])).toEqual([]);
  });
});

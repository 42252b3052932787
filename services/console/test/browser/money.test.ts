import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('alerts', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('chooses, adds and drops thresholds, and turns the alert of the wallet off', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/usage');
    await page.getByRole('link', { name: 'Alerts by mail' }).click();
    const chip = (name: string) => page.getByRole('button', { name, exact: true });
    await expect.poll(() => chip('80%').getAttribute('aria-pressed')).toBe('true');
    await chip('80%').click();
    await chip('90%').click();
    await page.getByLabel('Another share').fill('33');
    await chip('Add').click();
    expect(await chip('33%').getAttribute('aria-pressed')).toBe('true');
    await page.getByLabel('Another share').fill('101');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('A whole number from 1 to 100.').waitFor();
    await page.getByLabel('Another share').fill('');
    await page.getByLabel('When the wallet falls below').fill('');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('The alerts are saved').first().waitFor();
    expect(person.has.alerts).toEqual({ thresholds_percent: [33, 50, 90, 100], wallet_below_micros: null });
  });
});

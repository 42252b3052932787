import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('without a connection', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('a loaded page says how old it is, another one waits inside the frame, and both come back', async () => {
    browser.expectComplaints('Failed to load resource', 'Failed to fetch dynamically imported module');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    const meter = page.getByRole('meter', { name: 'This week' });
    await meter.waitFor();
    await page.context().setOffline(true);
    await page.getByText(/The service cannot be reached. What you see was read/).waitFor();
    await meter.waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).first().click();
    await page.getByRole('heading', { name: 'This page is not loaded yet' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Overview' }).click();
    await meter.waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).first().click();
    await page.context().setOffline(false);
    await page.getByRole('rowheader', { name: 'Nightly report' }).waitFor();
    expect(await page.getByText('The service cannot be reached').count()).toBe(0);
  });

  test('a page says so as well while the network is there and the service is not', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/wallet');
    await page.getByRole('cell', { name: 'Top-up' }).waitFor();
    await page.clock.install();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.clock.runFor(20_000);
    await page
      .getByText(/The service cannot be reached/)
      .first()
      .waitFor();
    await page.unroute('**/v1/**');
    await page.clock.runFor(20_000);
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    await expect.poll(() => page.getByText('The service cannot be reached').count()).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('without a connection', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('a loaded page shows its age, another one waits inside the frame, and both recover', async () => {
    browser.expectComplaints('Failed to load resource', 'Failed to fetch dynamically imported module');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    const meter = page.getByRole('meter', { name: 'This week' });
    await meter.waitFor();
    await page.context().setOffline(true);
    await page.getByText(/We cannot reach the service. Last updated/).waitFor();
    await meter.waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Waiting for a connection' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Overview' }).click();
    await meter.waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).first().click();
    await page.context().setOffline(false);
    await page.getByRole('rowheader', { name: 'Nightly report' }).waitFor();
    expect(await page.getByText('We cannot reach the service').count()).toBe(0);
  });

  test('a page also shows its age if only the service is down', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/wallet');
    await page.getByRole('table', { name: 'Transactions' }).waitFor();
    await page.clock.install();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.clock.runFor(20_000);
    await page
      .getByText(/We cannot reach the service/)
      .first()
      .waitFor();
    await page.unroute('**/v1/**');
    await page.clock.runFor(20_000);
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    await expect.poll(() => page.getByText('We cannot reach the service').count()).toBe(0);
  });
});

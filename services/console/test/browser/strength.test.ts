import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';

describe.skipIf(!hasChromium())('the meter of password strength', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('explains while a password is typed, knows the owner, and passes axe-core', async () => {
    const page = await openAs({ browser, console, person: addPerson(console, 'personal') }, '/account');
    const field = page.getByLabel('New password', { exact: true });
    const meter = page.getByRole('meter', { name: 'Password strength' });
    await page.getByText('Change the password').first().click();
    await field.fill('password1234');
    await meter.waitFor();
    await page.getByText('It is one of the most common passwords.').first().waitFor();
    expect(await meter.getAttribute('aria-valuetext')).toBe('Very weak');
    expect(await findViolations(page)).toEqual([]);
    await field.fill('personal@example.com');
    await page.getByText('It is made of your address or your name.').first().waitFor();
    await field.fill('correct');
    await page.getByText('5 more characters are needed.').first().waitFor();
    await field.fill('quercia in fiore a maggio');
    await page.getByText('Very strong.').first().waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: 'Password strength: Very strong.' })
      .waitFor({ state: 'attached' });
    await field.fill('');
    await meter.waitFor({ state: 'hidden' });
  });

  test('speaks Italian on the page of a mailed link', async () => {
    browser.expectComplaints('401');
    const page = await browser.open(`${console.url}/reset-password?token=unknown`, { locale: 'it-IT' });
    const field = page.locator('[autocomplete=new-password]');
    await field.fill('password1234');
    await page.getByRole('meter', { name: 'Sicurezza della password' }).waitFor();
    await page.getByText('È una delle password più usate.').first().waitFor();
  });

  test('is optional: a password can be changed while the dictionaries cannot be loaded', async () => {
    browser.expectComplaints('Failed to load resource', 'net::ERR');
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/account');
    await page.route(/strength-worker/, (route) => route.abort());
    await page.getByText('Change the password').first().click();
    const form = page.getByRole('form', { name: 'Change the password' });
    await form.getByLabel('Current password').fill(PASSWORD);
    await form.getByLabel('New password').fill('quercia in fiore a maggio');
    await form.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Password changed').first().waitFor();
  });
});

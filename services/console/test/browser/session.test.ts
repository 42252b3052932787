import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { GUESSABLE_PASSWORD } from '../support/mock-api/index.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';

describe.skipIf(!hasChromium())('the session of the console', () => {
  const console = useConsole();
  const browser = useBrowser();
  // A browser reports every answer of 400 and above; here they are the point.
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('redirects to the sign-in page, which leads back', async () => {
    const page = await browser.open(`${console.url}/usage?days=7`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, searchParams.get('next')]).toEqual(['/sign-in', '/usage?days=7']);
  });

  test('keeps the session over a reload without leaving its token where scripts could read it', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const stored = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])');
    expect(stored).toBe('[{},{},""]');
  });

  test('resumes a refused session, and redirects to the sign-in page if it has ended', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    // All that the overview reads is read.
    await page.getByText('0 of 3 done').waitFor();
    console.state.sessions.clear();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).search).toBe('?next=%2Fplans&reason=expired&locale=en');
  });

  test('keeps what was typed over the end of the session and over a reload, and drops it after signing out', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps/new');
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Notes for teams');
    await page.getByRole('button', { name: 'Add a redirect URI' }).click();
    await page.getByLabel('Redirect URI 2', { exact: true }).fill('https://notes.example/two');
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/one');
    const sessions = new Map(console.state.sessions);
    console.state.sessions.clear();
    await page.getByRole('button', { name: 'Register an app' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    for (const [token, email] of sessions) console.state.sessions.set(token, email);
    await page.goto(`${console.url}${new URL(page.url()).searchParams.get('next')}`);
    await page.getByText('What you typed is still here.').waitFor();
    expect(await name.inputValue()).toBe('Notes for teams');
    expect(await page.getByLabel('Redirect URI 2', { exact: true }).inputValue()).toBe('https://notes.example/two');
    await name.fill('Notes');
    await page.reload();
    await expect.poll(() => name.inputValue()).toBe('Notes');
    // What was left for another page of the console is not kept.
    await page.getByRole('link', { name: 'Wallet', exact: true }).click();
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    await page.goBack();
    expect(await name.inputValue()).toBe('');
    await name.fill('Notes');
    await page.reload();
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('opens the form of a new key again after a reload, and keeps no password', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/keys');
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Report');
    await page.reload();
    await expect.poll(() => page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Report');
    await page.goto(`${console.url}/account`);
    await page.getByText('Change the password').first().click();
    await page.getByRole('form', { name: 'Change the password' }).getByLabel('Current password').fill(PASSWORD);
    await page.reload();
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    expect(await page.evaluate('JSON.stringify({...sessionStorage})')).not.toContain(PASSWORD);
  });

  test('leads all tabs to the sign-in page when one signs out, or finds that the session has ended', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    const openTab = async () => {
      const tab = await page.context().newPage();
      await tab.goto(`${console.url}/usage`);
      await tab.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      return tab;
    };
    const other = await openTab();
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(other.url()).search).toBe('?reason=signed_out&locale=en');
    console.state.sessions.set(`token-of-${person.account.email}`, person.account.email);
    const first = await openTab();
    const second = await openTab();
    console.state.sessions.clear();
    await first.getByRole('link', { name: 'Wallet', exact: true }).click();
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(second.url()).search).toBe('?next=%2Fusage&reason=expired&locale=en');
  });

  test('explains why a password is refused, changes it in a new session, and asks for a new address', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Account settings' }).click();
    await page.getByText('Change the password').first().click();
    const password = page.getByRole('form', { name: 'Change the password' });
    await password.getByLabel('Current password').fill('not this one');
    await password.getByLabel('New password').fill(GUESSABLE_PASSWORD);
    await password.getByRole('button', { name: 'Change the password' }).click();
    await password.getByText('This password is too easy to guess. Use more words').waitFor();
    await password.getByLabel('New password').fill('a fresh set of four words');
    await password.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The current password is wrong').waitFor();
    await password.getByLabel('Current password').fill(PASSWORD);
    await password.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Password changed').first().waitFor();
    await page.getByText('Change your email address').first().click();
    const address = page.getByRole('form', { name: 'Change your email address' });
    await address.getByLabel('New address').fill('ada@example.com');
    await address.getByLabel('Current password').fill('a fresh set of four words');
    await address.getByRole('button', { name: 'Change your email address' }).click();
    await page.getByText('open the link we sent to ada@example.com').waitFor();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByRole('button', { name: 'Choose Standard' }).waitFor();
  });

  test('mails a link for a forgotten password, which sets a new one', async () => {
    const person = addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/reset-password`);
    await page.getByLabel('Email address').fill(person.account.email);
    await page.getByRole('button', { name: 'Send me a link' }).click();
    await page.getByText(`If ${person.account.email} has an account`).waitFor();
    await page.goto(`${console.url}/reset-password?token=${person.account.email}`);
    await page.getByRole('textbox', { name: 'New password' }).fill('a fresh set of four words');
    await expect.poll(() => page.url()).toBe(`${console.url}/reset-password`);
    await page.reload();
    await page.getByRole('textbox', { name: 'New password' }).fill('a fresh set of four words');
    await page.getByRole('button', { name: 'Save the new password' }).click();
    await page.getByText('Choose one.').first().waitFor();
    await page.getByRole('radio', { name: /Keep them/ }).check();
    expect(await page.evaluate('JSON.stringify(history.state)')).toContain(person.account.email);
    await page.getByRole('button', { name: 'Save the new password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    // Browsers store the history, so the used token is not kept there.
    expect(await page.evaluate('history.state')).toBeNull();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(console.state.accounts.get(person.account.email)?.password).toBe('a fresh set of four words');
  });

  test('confirms an address when the button is pressed, and shows if the link is no longer valid', async () => {
    const person = addPerson(console, 'personal');
    person.account.email_verified = false;
    const page = await browser.open(`${console.url}/verify-email?token=${person.account.email}`);
    const button = page.getByRole('button', { name: 'Confirm address' });
    await button.waitFor();
    expect(person.account.email_verified).toBe(false);
    await button.click();
    await page.getByText('Your address is confirmed.').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content');
    await page.goto(`${console.url}/undo-email?token=unknown`);
    await page.getByRole('button', { name: 'Undo the change' }).click();
    await page.getByText('Try the one in our latest email.').waitFor();
    expect(await page.evaluate('history.state')).toBeNull();
  });

  test('signs out everywhere', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).search).toBe('?reason=signed_out&locale=en');
    expect(console.state.sessions.size).toBe(0);
  });

  test('uses the language chosen in this browser, else that of the account', async () => {
    const person = addPerson(console, 'personal', 'it');
    const page = await openAs({ browser, console, person });
    await page.getByRole('heading', { name: 'Panoramica' }).waitFor();
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    // Mails follow.
    await expect.poll(() => person.account.locale).toBe('en');
    // A form that was open before does not bring the former language back.
    await page.goto(`${console.url}/account`);
    const profile = page.getByRole('form', { name: 'Profile' });
    await profile.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Italiano' }).click();
    await expect.poll(() => person.account.locale).toBe('it');
    await page.keyboard.press('Escape');
    await page.getByRole('form', { name: 'Profilo' }).getByRole('button').click();
    await expect.poll(() => person.account.display_name).toBe('Ada');
    expect(person.account.locale).toBe('it');
    expect(await page.locator('html').getAttribute('lang')).toBe('it');
  });

  test('stores the last of two languages that are chosen at once', async () => {
    const person = addPerson(console, 'personal', 'it');
    const page = await openAs({ browser, console, person });
    const chosen = Promise.withResolvers<void>();
    await page.route('**/v1/console/account', async (route) => {
      if (route.request().postData()?.includes('"en"')) await chosen.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await page.locator('html[lang=en]').waitFor();
    await page.getByRole('menuitemradio', { name: 'Italiano' }).click();
    await page.locator('html[lang=it]').waitFor();
    const stored = ['en', 'it'].map((locale) =>
      page.waitForResponse((response) => response.request().postData() === JSON.stringify({ locale })),
    );
    chosen.resolve();
    await Promise.all(stored);
    expect(person.account.locale).toBe('it');
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { failNext } from '../support/mock-api/index.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';

describe.skipIf(!hasChromium())('signing up, in and out', () => {
  const console = useConsole();
  const browser = useBrowser();
  // A browser reports every answer of 400 and above; here they are the point.
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('creates a personal account and arrives on the overview', async () => {
    const page = await browser.open(`${console.url}/`);
    await page.getByRole('link', { name: 'Create one' }).click();
    await page.getByLabel('Your name').fill('Ada Rossi');
    await page.getByLabel('Email address').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(console.state.accounts.get('ada@example.com')?.account).toMatchObject({
      account_type: 'personal',
      display_name: 'Ada Rossi',
      business_name: null,
      locale: 'en',
    });
    expect(await page.getByRole('link', { name: 'Apps', exact: true }).count()).toBe(0);
  });

  test('asks a business for its name and shows it its apps', async () => {
    const page = await browser.open(`${console.url}/sign-up`);
    await page.getByRole('radio', { name: /Business/ }).check();
    await page.getByLabel('Email address').fill('office@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    const name = page.getByLabel('Business name');
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('input:focus').getAttribute('autocomplete')).toBe('organization');
    await name.fill('Example Business');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Your apps' }).waitFor();
    await page.getByRole('link', { name: 'Apps', exact: true }).waitFor();
  });

  test('tells faults at their fields: short password at once, taken address after asking', async () => {
    addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/sign-up`);
    await page.getByLabel('Email address').fill('personal@example.com');
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('short');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('At least 12 characters.', { exact: true }).waitFor();
    await password.fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('There is an account with this address already').waitFor();
    expect(await page.getByLabel('Email address').getAttribute('aria-invalid')).toBe('true');
  });

  test('offers single sign-on by its name where there is one, and comes back to where one was going', async () => {
    console.state.sso.add('Acme');
    const page = await browser.open(`${console.url}/sign-in?next=%2Fconnections`);
    const link = page.getByRole('link', { name: 'Sign in with Acme' });
    expect(await link.getAttribute('href')).toBe('/v1/console/sso/start?return_to=%2Fconnections');
    console.state.sso.clear();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: /^Sign in with/ }).count()).toBe(0);
  });

  test('says what to do after a wrong password, and how long to wait after too many', async () => {
    addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/sign-in`);
    await page.getByLabel('Email address').fill('personal@example.com');
    await page.getByLabel('Password', { exact: true }).fill('not this one at all');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Address or password are wrong').waitFor();
    await page.getByText('Request id').waitFor();
    failNext(console.faults, 'createSession', 'too_many_attempts', { 'retry-after': '600' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You can try again in 10 minutes.').waitFor();
  });

  test('returns to the page that was asked for, and never to another site', async () => {
    addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/wallet`);
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Email address').fill('personal@example.com');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await signIn();
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/wallet');
    await page.context().clearCookies();
    await page.goto(`${console.url}/sign-in?next=${encodeURIComponent('//evil.example/')}`);
    await signIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${console.url}/`);
  });

  test('keeps the session over a reload without leaving its token where scripts could read it', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const stored = await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])');
    expect(stored).toBe('[{},{},""]');
  });

  test('asks for the session again when it is refused, and signs in where there is none any more', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    console.state.sessions.clear();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.getByLabel('Email address').fill(person.account.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Plan', level: 1 }).waitFor();
  });

  test('changes the password and stays signed in with the new session, and asks for a new address', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Account settings' }).click();
    const password = page.getByRole('form', { name: 'Change the password' });
    await password.getByLabel('Current password').fill('not this one');
    await password.getByLabel('New password').fill('a fresh set of four words');
    await password.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The current password is not right').waitFor();
    await password.getByLabel('Current password').fill(PASSWORD);
    await password.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed').first().waitFor();
    const address = page.getByRole('form', { name: 'Change the address' });
    await address.getByLabel('New address').fill('ada@example.com');
    await address.getByLabel('Current password').fill('a fresh set of four words');
    await address.getByRole('button', { name: 'Change the address' }).click();
    await page.getByText('open the link that we have sent to ada@example.com').waitFor();
    await page.getByRole('link', { name: 'Plan', exact: true }).click();
    await page.getByRole('button', { name: 'Choose Standard' }).waitFor();
  });

  test('mails a link for a forgotten password, which sets a new one', async () => {
    const person = addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/sign-in`);
    await page.getByRole('link', { name: 'Forgotten password?' }).click();
    await page.getByLabel('Email address').fill(person.account.email);
    await page.getByRole('button', { name: 'Mail me a link' }).click();
    await page.getByText(`If there is an account with ${person.account.email}`).waitFor();
    await page.goto(`${console.url}/reset-password?token=${person.account.email}`);
    await page.getByRole('textbox', { name: 'New password' }).fill('a fresh set of four words');
    await expect.poll(() => page.url()).toBe(`${console.url}/reset-password`);
    await page.getByRole('button', { name: 'Save the new password' }).click();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(person.account.email);
    await page.getByLabel('Password', { exact: true }).fill('a fresh set of four words');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('confirms an address once the button is pressed, and says so if the link is no longer good', async () => {
    const person = addPerson(console, 'personal');
    person.account.email_verified = false;
    const page = await browser.open(`${console.url}/verify-email?token=${person.account.email}`);
    const button = page.getByRole('button', { name: 'Confirm address' });
    await button.waitFor();
    expect(person.account.email_verified).toBe(false);
    await button.click();
    await page.getByText('Your address is confirmed.').waitFor();
    await page.goto(`${console.url}/undo-email?token=unknown`);
    await page.getByRole('button', { name: 'Undo the change' }).click();
    await page.getByText('This link was used before').waitFor();
  });

  test('signs out everywhere', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    expect(console.state.sessions.size).toBe(0);
  });

  test('follows the language of the account, and the one chosen in this browser before it', async () => {
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
  });
});

describe.skipIf(!hasChromium())('a release that cannot resume sessions', () => {
  const console = useConsole({ without: ['resumeSession'] });
  const browser = useBrowser();

  test('is signed out at first, and works', async () => {
    browser.expectComplaints('Failed to load resource');
    addPerson(console, 'personal');
    const page = await browser.open(`${console.url}/keys`);
    await page.getByLabel('Email address').fill('personal@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
  });
});

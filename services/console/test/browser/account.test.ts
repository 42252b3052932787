import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { atLocalhost, type TestConsole, useConsole } from '../support/console.ts';
import { furnish, newSession } from '../support/furnish.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';
import { newTotpCode } from '../support/totp-code.ts';

/** Makes every session too old for sensitive acts. */
const ageSessions = ({ state }: TestConsole): void => {
  for (const token of state.sessions.keys()) state.staleSessions.add(token);
};

const downloadBy = async (page: Page, name: string): Promise<string> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  return await readFile(await (await download).path(), 'utf8');
};

/** Returns true if an element is scrolled into the visible part of a frame. */
const isWithin = async (page: Page, element: string, frame: string): Promise<boolean> => {
  const [inner, outer] = await Promise.all([element, frame].map((each) => page.locator(each).boundingBox()));
  if (inner == null || outer == null) return false;
  return inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
};

describe.skipIf(!hasChromium())('the account', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('changes name and language, and becomes a business at once', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/account');
    const profile = page.getByRole('form', { name: 'Profile' });
    await profile.getByLabel('Your name').fill(' Ada Bianchi ');
    await profile.getByLabel('Language').selectOption({ label: 'Italiano' });
    await profile.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Profilo' }).waitFor();
    expect(person.account).toMatchObject({ display_name: 'Ada Bianchi', locale: 'it', business_name: null });
    await page.getByRole('button', { name: 'Passa ad aziendale' }).click();
    const dialog = page.getByRole('dialog', { name: 'Passa ad aziendale' });
    await dialog.getByLabel('Nome dell’azienda').fill('Bianchi srl');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'App', exact: true }).click();
    await page.getByRole('heading', { name: 'App', exact: true, level: 1 }).waitFor();
    expect(person.account).toMatchObject({ account_type: 'business', business_name: 'Bianchi srl' });
  });

  test('signs out one device, and all others after a confirmation', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    person.has.otherSessions.push(...Array.from({ length: 4 }, () => newSession('curl/8.5.0', 3)));
    const page = await openAs({ browser, console, person }, '/account');
    const first = page.getByRole('listitem').filter({ hasText: 'This device' });
    expect(await first.textContent()).toContain('Chrome, Linux');
    await page.getByRole('button', { name: 'Show all 7' }).click();
    await page.getByRole('button', { name: /^Sign out Chrome, iOS, signed in on / }).click();
    await page.getByText('Device signed out').first().waitFor();
    await expect.poll(() => page.getByText('Chrome, iOS').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out all others' }).click();
    await page.getByText('All other devices signed out').first().waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Sign out / }).count()).toBe(0);
    expect(person.has.otherSessions).toEqual([]);
  });

  test('downloads the person’s data, and closes the account with the password', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/account');
    // No organization signs in here, so every account has a password.
    expect(await page.getByText('Leave empty').count()).toBe(0);
    expect(JSON.parse(await downloadBy(page, 'Download your data'))).toMatchObject({
      svc_user_id: person.account.svc_user_id,
      auth: { accounts: [{ email: person.account.email }] },
    });
    ageSessions(console);
    await page.getByRole('button', { name: 'Delete the account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
    await dialog.getByLabel('Password', { exact: true }).fill('not the password');
    await page.keyboard.press('Enter');
    await dialog.getByText('The current password is wrong').waitFor();
    expect(person.has.isDeleted).toBe(false);
    await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your account is closed' }).waitFor();
    await page.getByText('the link in the email we sent you keeps your account').waitFor();
    expect(person.has.isDeleted).toBe(true);
  });
});

describe.skipIf(!hasChromium())('second factors', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('adds an authenticator app with its first code, and then authenticates with a code', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/account');
    await page.setViewportSize({ width: 360, height: 640 });
    await page.getByRole('button', { name: 'Add an authenticator app' }).click();
    await page.getByRole('img', { name: /^QR code/ }).waitFor();
    const secret = await page.getByRole('textbox', { name: 'Key' }).inputValue();
    await page.getByLabel('Code', { exact: true }).fill('not a code');
    await page.keyboard.press('Enter');
    await expect.poll(() => isWithin(page, '.dialog .fault', '.dialog')).toBe(true);
    await page.getByText('That code is wrong, or its time is up.').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(newTotpCode(secret));
    await page.keyboard.press('Enter');
    const list = page.getByRole('list', { name: 'Recovery codes' });
    await list.waitFor();
    const codes = await list.getByRole('listitem').allTextContents();
    expect(codes).toEqual(person.has.recoveryCodes);
    expect((await downloadBy(page, 'Download')).split('\n')).toEqual(expect.arrayContaining(codes));
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('10 left').waitFor();
    await expect.poll(() => page.content()).not.toContain(secret);
    person.has.recoveryCodes = person.has.recoveryCodes.slice(0, 2);
    ageSessions(console);
    await page.getByRole('button', { name: 'Create new codes' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Create new codes' }).click();
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await question.getByLabel('Password', { exact: true }).fill('not the password');
    await page.keyboard.press('Enter');
    await question.getByText('The current password is wrong').waitFor();
    await question.getByRole('button', { name: 'Use a code instead' }).click();
    expect(await question.getByText('The current password is wrong').count()).toBe(0);
    await page.keyboard.type(newTotpCode(secret));
    await page.keyboard.press('Enter');
    await list.waitFor();
    expect(person.has.recoveryCodes).toHaveLength(10);
  });

  test('says at an IP address why passkeys do not work there', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/account');
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isDisabled()).toBe(true);
    await page.getByText('At an IP address browsers allow no passkeys.').waitFor();
  });

  test('warns of the last recovery codes, and removes the last second factor with them', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    person.has.factors.length = 1;
    const page = await openAs({ browser, console, person }, '/account');
    await page.getByRole('alert').getByText('Few recovery codes left').waitFor();
    await page.getByRole('button', { name: 'Remove Authenticator app' }).click();
    await page.getByText('It is your last one').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('None yet.').waitFor();
    expect(await page.getByText('Few recovery codes left').count()).toBe(0);
  });

  test('adds a passkey, authenticates with it, and refuses to add it twice (WebAuthn Level 3)', async () => {
    const local = atLocalhost(console);
    const person = addPerson(local, 'personal');
    const page = await openAs({ browser, console: local, person }, '/account');
    const authenticator = await page.context().newCDPSession(page);
    await authenticator.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
    } as const;
    const { authenticatorId } = await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
    });
    const create = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('button', { name: 'Create the passkey' }).click();
    };
    await create();
    await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByRole('button', { name: 'Remove Chrome, Linux' }).waitFor();
    ageSessions(local);
    await page.getByRole('button', { name: 'Download your data' }).click();
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await question.getByRole('button', { name: 'Use a passkey' }).click();
    await question.getByText('You did not use the passkey').waitFor();
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    const download = page.waitForEvent('download');
    await question.getByRole('button', { name: 'Use a passkey' }).click();
    await download;
    await create();
    await page.getByText('You have already added this passkey.').waitFor();
    expect(person.has.factors).toHaveLength(1);
  });
});

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { en } from '../../src/web/i18n/en/index.ts';
import { it as italian } from '../../src/web/i18n/it/index.ts';
import { hasChromium, useBrowser } from './browser.ts';
import { atLocalhost, useConsole } from './console.ts';
import { furnish } from './furnish.ts';
import { furnishOrganization } from './furnish-organization.ts';
import { addPerson, openAs, PASSWORD } from './people.ts';
import { newTotpCode } from './totp-code.ts';

/** Folder for pictures of every page; unset, none are taken. */
const pictures = process.env['SCREENSHOTS_DIR'] ?? '';

const NARROW = { width: 360, height: 780 };
const MIDDLE = { width: 768, height: 900 };
const WIDE = { width: 1280, height: 900 };

const PAGES = [
  ...['/account', '/plans', '/plans/return', '/connections', '/keys', '/wallet', '/usage', '/usage/alerts', '/verify'],
  ...['/apps', '/apps/new', '/no-such-page'],
  ...['members', 'seats', 'usage', 'audit', 'settings'].map((page) => `/organization/${page}`),
];

/** Rules whose outcome depends on the theme. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Runs axe-core in the page, as a debugger does: the page's own policy would refuse it. */
export const findViolations = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: rules }) };
  const found: unknown = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe-core answered nothing'];
};

const isWiderThanScreen = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const settle = async (page: Page): Promise<void> => {
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  // Asked again and again: an animation that its element's change of style replaced may never finish. A button that waits
  // spins for ever.
  await expect
    .poll(
      () =>
        page.evaluate(`document.getAnimations().filter(({ effect, playState }) =>
      playState === 'running' && effect.getComputedTiming().endTime !== Infinity).length`),
      { timeout: 10_000 },
    )
    .toBe(0);
};

/** Goes to another page as a link does. A load would cost as much as the inspection. */
const goTo = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(`document.querySelector('h1').dataset.left = ''; history.pushState(null, '', '${path}')`);
  await page.locator('h1:not([data-left])').waitFor();
};

const photograph = async (page: Page, name: string): Promise<void> => {
  if (pictures === '') return;
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
};

/** Inspects the page at two widths in the light theme by all rules, then the narrow one in the dark theme by those on colors. */
const inspect = async (page: Page, name: string): Promise<void> => {
  for (const viewport of [WIDE, NARROW]) {
    await page.setViewportSize(viewport);
    await settle(page);
    const where = `${name}-light-${viewport.width}`;
    await photograph(page, where);
    expect.soft(await findViolations(page), where).toEqual([]);
    expect.soft(await isWiderThanScreen(page), `${where} scrolls sideways`).toBe(false);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await settle(page);
  await photograph(page, `${name}-dark-${NARROW.width}`);
  expect.soft(await findViolations(page, COLOR_RULES), `${name}-dark-${NARROW.width}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
};

/** Tests every page in one language, at two widths and in both themes: axe-core finds nothing, and nothing scrolls sideways. */
export const inspectEveryPage = (locale: 'en' | 'it'): void => {
  describe.skipIf(!hasChromium())(`every page in ${locale}`, () => {
    const console = useConsole();
    const browser = useBrowser();
    const options = { colorScheme: 'light' as const, locale: locale === 'it' ? 'it-IT' : 'en-GB' };
    const texts = locale === 'it' ? italian : en;
    const nameOf = (page: string): string => `${page}-${locale}`;

    test.each(['reset-password', 'reset-password?token=unknown', 'verify-email?token=unknown', 'undo-email'])(
      '/%s',
      async (path) => {
        browser.expectComplaints('401');
        const page = await browser.open(`${console.url}/${path}`, options);
        await page.locator('h1').waitFor();
        await inspect(page, nameOf(path.replace('?token=unknown', '-set')));
      },
    );

    test.each(['empty', 'full'])('every page of a business that is %s', async (state) => {
      const person = addPerson(console, 'business', locale);
      const app = state === 'full' ? furnish(console, person) : undefined;
      if (state === 'full') furnishOrganization(console, person);
      const ofApp =
        app === undefined ? [] : ['', '/webhook', '/analytics'].map((part) => `/apps/${app.client_id}${part}`);
      const page = await openAs({ browser, console, person }, '/', options);
      await inspect(page, nameOf(`overview-${state}`));
      for (const path of [...PAGES, ...ofApp]) {
        await goTo(page, path);
        await inspect(page, nameOf(`${path.slice(1).replaceAll('/', '-')}-${state}`));
      }
    });

    test('the pages of an organization for a member, with its menus and dialogs', async () => {
      const owner = addPerson(console, 'business', locale);
      furnish(console, owner);
      const member = furnishOrganization(console, owner);
      member.account.locale = locale;
      const { svc_user_id: id } = owner.account;
      const page = await openAs({ browser, console, person: member }, `/o/${id}`, options);
      await page.locator('.organization-trigger').waitFor();
      await inspect(page, nameOf('acting'));
      await page.setViewportSize(MIDDLE);
      await page.locator('.organization-trigger').click();
      await page.locator('.menu').waitFor();
      await settle(page);
      await photograph(page, nameOf('acting-menu'));
      expect(await findViolations(page)).toEqual([]);
      expect(await isWiderThanScreen(page)).toBe(false);
      await page.keyboard.press('Escape');
      await goTo(page, `/o/${id}/organization/settings`);
      await inspect(page, nameOf('role-needed'));
      const admin = await openAs({ browser, console, person: owner }, '/organization/members', options);
      await admin.setViewportSize(MIDDLE);
      await settle(admin);
      await photograph(admin, nameOf('members-middle'));
      expect(await isWiderThanScreen(admin)).toBe(false);
      await admin.locator('.page-header .button-primary').click();
      await admin.locator('.dialog').waitFor();
      await inspect(admin, nameOf('invite'));
    });

    test('the page of an invitation, before and after the sign-in', async () => {
      browser.expectComplaints('401');
      const person = addPerson(console, 'personal', locale);
      const before = await browser.open(`${console.url}/invitations?token=ivt_1`, options);
      await before.locator('h1').waitFor();
      await inspect(before, nameOf('invitation-signed-out'));
      const page = await openAs({ browser, console, person }, '/invitations?token=ivt_1', options);
      await inspect(page, nameOf('invitation'));
    });

    test('the overview of a person', async () => {
      browser.expectComplaints('401');
      const person = addPerson(console, 'personal', locale);
      await inspect(await openAs({ browser, console, person }, '/', options), nameOf('overview-personal'));
    });

    test('the dialogs of the account', async () => {
      // At an IP address there are no passkeys.
      const home = atLocalhost(console);
      const person = addPerson(home, 'personal', locale);
      const page = await openAs({ browser, console: home, person }, '/account', options);
      await page.setViewportSize(NARROW);
      for (const name of [texts.account.upgrade, texts.factors.addPasskey]) {
        await page.getByRole('button', { name }).click();
        await page.locator('.dialog').waitFor();
        await settle(page);
        expect(await findViolations(page), name).toEqual([]);
        await page.keyboard.press('Escape');
        await page.locator('.dialog').waitFor({ state: 'detached' });
      }
      await page.getByRole('button', { name: texts.factors.addTotp }).click();
      await page.locator('.qr').waitFor();
      await inspect(page, nameOf('totp'));
      const code = newTotpCode([...person.has.totpSecrets.values()].at(-1));
      await page.locator('.dialog input:not([readonly])').fill(code);
      await page.locator('.dialog [type=submit]').click();
      await page.locator('.codes').waitFor();
      await inspect(page, nameOf('recovery-codes'));
      await page.locator('.dialog .button-primary').click();
      await page.getByRole('button', { name: texts.ownData.delete }).click();
      await page.locator('.dialog [type=password]').waitFor();
      await inspect(page, nameOf('delete-account'));
      await page.locator('.dialog [type=password]').fill(PASSWORD);
      await page.locator('.dialog [type=submit]').click();
      await page.locator('.entrance h1').waitFor();
      await inspect(page, nameOf('account-deleted'));
    });

    test('menus and dialogs while they are open', async () => {
      const person = addPerson(console, 'personal', locale);
      furnish(console, person);
      const page = await openAs({ browser, console, person }, '/keys', options);
      await page.locator('.account-trigger').click();
      await page.locator('.menu').waitFor();
      await inspect(page, nameOf('menu'));
      await page.keyboard.press('Escape');
      await page.locator('.page-header .button-primary').click();
      await page.locator('.dialog').waitFor();
      await inspect(page, nameOf('dialog'));
      for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
      browser.expectComplaints('403');
      await page.locator('.dialog input').first().fill('A key');
      await page.locator('.dialog button[type=submit]').click();
      await page.locator('.dialog input[type=password]').waitFor();
      await inspect(page, nameOf('step-up'));
      await page.keyboard.press('Escape');
      await page.locator('.dialog input[type=password]').waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await page.locator('.side-menu').click();
      await page.locator('.drawer').waitFor();
      await settle(page);
      expect(await findViolations(page)).toEqual([]);
    });
  });
};

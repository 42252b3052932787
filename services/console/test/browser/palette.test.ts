import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('the command palette', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('opens with Ctrl+K, finds an app by its name and opens it by keyboard', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, '/wallet');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Find a page, app, key or guide, or do something' });
    await field.waitFor();
    await page.keyboard.type('teams');
    await page.getByRole('option', { name: /^Notes for teams Apps/ }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(() => page.getByRole('option', { selected: true }).textContent())
      .toBe('Notes for teams: analyticsApps');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/apps/${app.client_id}`);
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  });

  test('acts: changes the appearance, begins a key, and signs out', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    const field = page.getByRole('combobox', { name: 'Find a page, app, key or guide, or do something' });
    const act = async (typed: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.locator('[role=combobox]:focus').waitFor();
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
      await field.waitFor({ state: 'detached' });
    };
    await act('dark');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await act('create key');
    await page.getByRole('dialog', { name: 'New API key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    await act('top up');
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    await act('sign out');
    await page.waitForURL('**/sign-in?reason=signed_out&locale=en');
  });
});

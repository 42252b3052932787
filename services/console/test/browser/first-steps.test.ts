import { describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish, newUsage } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('the first steps', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('lead from the wallet to a key, and see the first request arrive', async () => {
    const person = addPerson(console, 'personal');
    person.has.balanceMicros = 1_000_000;
    const page = await openAs({ browser, console, person });
    const card = page.getByRole('region', { name: 'First steps' });
    await card.getByText('1 of 3 done').waitFor();
    await card.getByRole('link', { name: 'Create a key' }).click();
    await page.getByRole('button', { name: 'Create your first key' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByLabel('Name').evaluate((field) => field.matches(':focus'))).toBe(true);
    await page.keyboard.type('Nightly report');
    await page.keyboard.press('Enter');
    // The field that had the focus is gone: the keyboard goes on in the dialog of the result.
    await expect.poll(() => page.getByRole('dialog', { name: 'Your new key' }).locator(':focus').count()).toBe(1);
    await dialog.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await card.getByText('Waiting for the first request').waitFor();
    await card.getByRole('button', { name: 'Python' }).click();
    await card.getByRole('button', { name: 'Copy: Python' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`base_url="${console.url}/v1"`);
    expect(await findViolations(page)).toEqual([]);
    person.has.usage = [newUsage(person.has.keys[0]?.id ?? '', 0)];
    await card.getByText('It has arrived: svc-chat, status 200').waitFor();
    await card.getByText('All done').waitFor();
    await page.reload();
    await page.getByText('No plan yet').waitFor();
    await expect.poll(() => card.count()).toBe(0);
  });

  test('count an answer alone, offer a plan once, and tell an owner’s own connection from that of a user', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const [connection] = person.has.connections;
    Object.assign(person.has, { usage: [], keys: [], balanceMicros: 0, transactions: [], planUse: new Map() });
    person.has.apps = [{ ...app, connections_count: 1 }];
    const page = await openAs({ browser, console, person });
    const card = page.getByRole('region', { name: 'First steps' });
    await card.getByRole('button', { name: 'Use apps' }).click();
    // The app has only read the usage.
    expect(connection?.last_used_at).not.toBeNull();
    await card.getByText('Waiting for the first answer.').waitFor();
    await card.getByRole('button', { name: 'Offer an app' }).click();
    await card.getByText('Be your app’s first user').waitFor();
    await card.getByText('3 of 5 done').waitFor();
    const use = { requests: 1, cost_micros: 38 };
    const apps = [{ client_id: app.client_id, ...use }];
    person.has.planUse = new Map([
      [0, { services: { chat: use, audio_transcription: { ...use, requests: 0 } }, apps }],
    ]);
    await card.getByText('4 of 5 done').waitFor();
    person.has.subscription = null;
    await page.reload();
    await card.getByRole('button', { name: 'Use apps' }).click();
    await card.getByRole('link', { name: 'See the plans' }).waitFor();
    expect(await page.getByText('No plan yet').count()).toBe(0);
  });

  test('lead a business from its app to the webhook, and stay hidden in this browser', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    Object.assign(person.has, { usage: [], keys: [], connections: [], apps: [{ ...app, connections_count: 0 }] });
    console.state.webhooks.clear();
    const page = await openAs({ browser, console, person });
    const card = page.getByRole('region', { name: 'First steps' });
    await card.getByRole('button', { name: 'Offer an app' }).click();
    const link = card.getByRole('link', { name: 'Set up the webhook' });
    expect(await link.getAttribute('href')).toBe(`/apps/${app.client_id}/webhook`);
    await card.getByRole('button', { name: 'Hide' }).click();
    await card.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('main:focus').count()).toBe(1);
    await page.reload();
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    expect(await card.count()).toBe(0);
  });
});

describe.skipIf(!hasChromium())('a cancelled plan', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('shows its end on the overview, with a link to resume it', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    Object.assign(person.has.subscription ?? {}, {
      cancel_at_period_end: true,
      current_period_end: '2030-05-04T10:00:00Z',
    });
    const page = await openAs({ browser, console, person });
    await page.getByText('Your plan runs until 4 May 2030').waitFor();
    await page.getByText('cancelled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume in the billing portal' }).click();
    await page.waitForURL('**/?from=portal');
  });
});

import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish, newUsage } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { failNext, subscriptionTo } from '../support/mock-api/index.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';

describe.skipIf(!hasChromium())('plans and wallet', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('buys a plan: checkout, return, confirmation, and then usage on the overview', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('link', { name: 'See the plans' }).click();
    await page.getByRole('button', { name: 'Choose Standard' }).click();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('You are now on Standard').waitFor();
    expect(new URL(page.url()).searchParams.get('session_id')).toMatch(/^cs_/);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('meter', { name: 'This week' }).waitFor();
    expect(await page.getByRole('meter', { name: 'This week' }).getAttribute('aria-valuetext')).toBe(
      '37%, €1.85 of €5.00',
    );
    await page.getByText('Resets in 3 days').waitFor();
  });

  test('keeps confirming while the payment is still on its way', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/plans');
    await page.getByRole('button', { name: 'Choose Starter' }).click();
    failNext(console.faults, 'confirmCheckout', 'checkout_not_completed');
    console.faults.delayMs.set('confirmCheckout', 1_500);
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('Confirming your purchase').first().waitFor();
    await page.getByText('You are now on Starter').waitFor();
  });

  test('names the next step if a checkout was never paid or does not exist', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/plans/return?session_id=cs_unknown');
    await page.getByText('It no longer exists').waitFor();
    await page.getByRole('link', { name: 'See plans' }).waitFor();
  });

  test('returns from a cancelled checkout without a charge', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/plans');
    await page.getByRole('button', { name: 'Choose Standard' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You were not charged').waitFor();
    await page.getByRole('button', { name: 'Choose Standard' }).waitFor();
  });

  test('opens the billing portal, and explains a failed payment', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    if (person.has.subscription !== null) person.has.subscription.status = 'past_due';
    const page = await openAs({ browser, console, person }, '/plans');
    await page.getByText('payment overdue').waitFor();
    await page.getByText('update your payment method in the billing portal').waitFor();
    expect(await page.getByRole('button', { name: 'Choose Starter' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Open the billing portal' }).click();
    await page.waitForURL('**/plans?from=portal');
  });

  test.each([
    ['past_due', 'Payment failed: the period from 27 Nov 2026 is not paid', 'Period: 27 Nov 2026 to 27 Dec 2026'],
    ['paused', 'Your plan is paused', 'Period: 27 Nov 2026 to 27 Dec 2026'],
    ['incomplete', 'Your first payment is missing', 'Period: 27 Nov 2026 to 27 Dec 2026'],
    ['unpaid', 'Your plan ended: the period from 27 Nov 2026 was not paid', 'Your invoices and payment methods stay'],
    ['canceled', 'Your plan has ended', 'Your invoices and payment methods stay'],
  ] as const)('says the same of a plan that is %s on its page and on the overview', async (status, title, note) => {
    const person = addPerson(console, 'personal');
    person.has.subscription = {
      ...subscriptionTo('standard'),
      status,
      current_period_start: '2026-11-27T09:00:00Z',
      current_period_end: '2026-12-27T09:00:00Z',
    };
    const page = await openAs({ browser, console, person }, '/plans', { timezoneId: 'UTC' });
    await page.clock.setFixedTime('2026-12-01T00:00:00Z');
    await page.reload();
    await page.getByText(title).waitFor();
    await page.getByText(note).waitFor();
    expect(await page.getByText('Paid period').count()).toBe(0);
    expect(await page.getByText('Change plan or payment method, or cancel.').count()).toBe(
      status === 'unpaid' || status === 'canceled' ? 0 : 1,
    );
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('button', { name: 'Hide' }).click();
    await page.getByText(title).waitFor();
    expect(await page.getByText('No plan yet').count()).toBe(0);
  });

  test('names the day on which a plan ended', async () => {
    const person = addPerson(console, 'personal');
    const dates = { current_period_start: '2026-01-27T09:00:00Z', current_period_end: '2026-02-27T09:00:00Z' };
    person.has.subscription = { ...subscriptionTo('standard'), status: 'canceled', ...dates };
    const page = await openAs({ browser, console, person }, '/plans');
    await page.getByText('Your plan ended on 27 Feb 2026').waitFor();
  });

  test('tops up the wallet with an amount in the person’s notation', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/wallet');
    const amount = page.getByLabel('Amount', { exact: true });
    await amount.fill('0.5');
    await page.getByRole('button', { name: 'Go to checkout' }).click();
    await page.getByText('At least €1.00.').waitFor();
    await amount.fill('12,50');
    await page.getByRole('button', { name: 'Go to checkout' }).click();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('Your wallet now holds €12.50.').waitFor();
    await page.getByRole('link', { name: 'Go to the wallet' }).click();
    await page.getByText('€12.50', { exact: true }).waitFor();
  });
});

describe.skipIf(!hasChromium())('the plan by day', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('charts cost and requests of all apps or one, for a period, also as a table', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    await page.getByRole('application', { name: 'Cost of your plan by day' }).waitFor();
    await page.getByRole('row', { name: /App no longer connected 17/ }).waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Requests' });
    await page.getByLabel('App', { exact: true }).selectOption({ label: 'App no longer connected' });
    await page.getByRole('application', { name: 'Requests of your plan by day' }).waitFor();
    await page.getByText('Total 17').waitFor();
    await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
    await page.getByText('Total 6').waitFor();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    expect(await page.getByRole('table', { name: 'Requests of your plan by day' }).getByRole('row').count()).toBe(8);
  });
  test('is available by arrow keys, as a table without empty rows, as CSV and as a picture', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const use = {
      services: { chat: { requests: 2, cost_micros: 300 }, audio_transcription: { requests: 1, cost_micros: 150 } },
    };
    const apps = [{ client_id: person.has.apps[0]?.client_id ?? '', requests: 2, cost_micros: 300 }];
    person.has.planUse = new Map([0, 9, 40].map((daysAgo) => [daysAgo, { ...use, apps }]));
    const page = await openAs({ browser, console, person });
    await page.getByText('100% more than in the previous 30 days').waitFor();
    await page.getByText('Days begin at midnight UTC').waitFor();
    await page.getByRole('application', { name: 'Cost of your plan by day' }).focus();
    const spoken = page.locator('[role=application] [aria-live]');
    await page.keyboard.press('End');
    await expect
      .poll(() => spoken.textContent())
      .toMatch(/: €0.00045. Notes for teams €0.0003. App no longer connected €0.00015. Previous period €0.00$/);
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => spoken.textContent()).toMatch(/: €0.00. Previous period €0.00$/);
    await page.keyboard.press('Escape');
    await expect.poll(() => spoken.textContent()).toBe('');
    const saved = async (name: string): Promise<Buffer> => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name }).click();
      return readFile(await (await download).path());
    };
    const lines = String(await saved('Save as CSV'))
      .trim()
      .split('\r\n');
    expect(lines).toHaveLength(1 + 30);
    expect(lines[0]).toBe('Day,Notes for teams,App no longer connected,Total');
    expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\d,0.000300,0.000150,0.000450$/);
    expect((await saved('Save as PNG')).subarray(1, 4).toString()).toBe('PNG');
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const rows = page.getByRole('table', { name: 'Cost of your plan by day' }).getByRole('row');
    expect(await rows.count()).toBe(1 + 4);
    expect(await findViolations(page)).toEqual([]);
  });
  test('names no app as a former one before the connected ones are known', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    await page.getByRole('row', { name: /Notes for teams/ }).waitFor();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route('**/v1/integrations/connections', async (route) => {
      asked.resolve();
      await answer.promise;
      await route.continue();
    });
    const history = page.waitForResponse((response) => response.url().includes('/usage/history'));
    await page.reload();
    await Promise.all([asked.promise, history]);
    expect(await page.getByRole('row', { name: /App no longer connected/ }).count()).toBe(0);
    answer.resolve();
    await page.getByRole('row', { name: /App no longer connected/ }).waitFor();
    expect(await page.getByRole('row', { name: /App no longer connected/ }).count()).toBe(1);
  });
  test('shows that nothing was used, and is hidden without a plan', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person });
    await page.getByRole('region', { name: 'First steps' }).waitFor();
    expect(await page.getByText('What connected apps used of your plan').count()).toBe(0);
    furnish(console, person);
    person.has.planUse = new Map();
    await page.reload();
    await page.getByText('Nothing was used in this period.').waitFor();
  });
});

describe.skipIf(!hasChromium())('connections, keys and usage', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('disconnects an app after a confirmation', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/connections');
    await page.getByText('use your subscription and see your limits and usage').waitFor();
    await page.getByText('2 hours ago').first().waitFor();
    await page.getByRole('button', { name: 'History of Notes for teams' }).click();
    await page.getByText('in a browser, from 192.0.2.0/24').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Disconnect Notes for teams' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Disconnect Notes for teams?' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(person.has.connections).toHaveLength(1);
    await page.getByRole('button', { name: 'Disconnect Notes for teams' }).click();
    console.faults.delayMs.set('deleteConnection', 400);
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await dialog.getByRole('button', { name: 'Working…' }).waitFor();
    await page.getByText('No connected apps').waitFor();
    expect(person.has.connections).toHaveLength(0);
    await page.getByRole('region', { name: 'No longer connected' }).getByText('Notes for teams').waitFor();
    // The button that was pressed is gone: the keyboard goes on in the page, not from its top.
    await expect.poll(() => page.locator('main:focus').count()).toBe(1);
    await page.getByRole('button', { name: 'History of Notes for teams' }).click();
    await page.getByRole('dialog').getByText('in a browser, from 192.0.2.0/24').waitFor();
  });

  test('lists the devices of an app and ends one, while the app stays connected', async () => {
    const person = addPerson(console, 'personal');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, '/connections');
    const devices = page.getByRole('region', { name: 'Where it is connected' });
    await devices.getByText('Connected in a browser').waitFor();
    await devices.getByRole('button', { name: 'End the access of Notes for teams on: Laptop, terminal' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'End “Laptop, terminal”?' });
    await dialog.getByRole('button', { name: 'End' }).click();
    // While the dialog is open, the list behind it has no role.
    await dialog.waitFor({ state: 'detached' });
    await devices.getByText('Laptop, terminal').waitFor({ state: 'detached' });
    expect(person.has.grants.get(app.client_id)).toHaveLength(1);
    expect(person.has.connections).toHaveLength(1);
  });

  test('reports a connected app with a reason and a comment', async () => {
    const person = addPerson(console, 'personal');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, '/connections');
    await page.getByRole('button', { name: 'Report this app: Notes for teams' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report this app: Notes for teams' });
    await dialog.getByLabel('What is wrong?').selectOption('It misuses my subscription or data');
    await dialog.getByLabel('What happened').fill('x'.repeat(501));
    await dialog.getByRole('button', { name: 'Send report' }).click();
    await dialog.getByLabel('What happened').fill(' It used everything at night. ');
    await dialog.getByRole('button', { name: 'Send report' }).click();
    await page.getByText('We have received your report').first().waitFor();
    const comment = 'It used everything at night.';
    expect(person.has.reports).toEqual([{ clientId: app.client_id, reason: 'misuse', comment }]);
  });

  test('creates a key that is shown once, lists it by its first characters, and deletes it', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nightly report');
    await dialog.getByLabel('Expires').selectOption({ label: 'In 30 days' });
    await dialog.getByText('Limits and models').click();
    await dialog.getByLabel(/Requests per minute/).fill('60');
    await dialog.getByLabel(/Monthly limit/).fill('25,50');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('textbox', { name: 'API key' }).inputValue();
    expect(key).toMatch(/^svc_sk_/);
    expect(person.has.keys[0]).toMatchObject({ requests_per_minute: 60, monthly_limit_micros: 25_500_000 });
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('€25.50 a month · 60 requests a minute').waitFor();
    await expect.poll(() => page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Manage Nightly report' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No keys yet').waitFor();
  });

  test('changes, pauses and rotates a key', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const [key] = person.has.keys;
    const page = await openAs({ browser, console, person }, '/keys');
    const choose = async (act: string): Promise<void> => {
      await page.getByRole('button', { name: 'Manage Nightly report' }).click();
      await page.getByRole('menuitem', { name: act }).click();
    };
    await choose('Change');
    const dialog = page.getByRole('dialog', { name: 'Change “Nightly report”' });
    expect(await dialog.getByLabel(/Monthly limit/).inputValue()).toBe('50');
    await dialog.getByLabel(/Requests per minute/).fill('');
    await dialog.getByLabel(/Tokens per minute/).fill('20000');
    await dialog.getByLabel(/Models/).fill('svc-chat');
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('€50.00 a month · 20,000 tokens a minute · svc-chat').waitFor();
    expect(key).toMatchObject({ requests_per_minute: null, tokens_per_minute: 20_000, models: ['svc-chat'] });
    await choose('Pause');
    await page.getByText('paused', { exact: true }).waitFor();
    await choose('Resume');
    await page.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
    await choose('Replace the secret');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Replace it' }).click();
    expect(await page.getByRole('textbox', { name: 'API key' }).inputValue()).toMatch(/^svc_sk_/);
    await page.getByText(/The old secret works until/).waitFor();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText('Old secret ends tomorrow').waitFor();
  });

  test('lists transactions of the wallet', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/wallet');
    await page.getByRole('cell', { name: '-€0.68' }).waitFor();
    expect(await page.getByRole('table', { name: 'Transactions' }).getByRole('row').count()).toBe(3);
  });

  test('keeps the filter of usage in the address and downloads what it selects', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/usage?days=7&status=200');
    expect(await page.getByLabel('Period').inputValue()).toBe('days7');
    await page.getByLabel('Model').selectOption({ label: 'svc-chat' });
    await expect.poll(() => new URL(page.url()).search).toBe('?days=7&model=svc-chat&status=200');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    const shown = await page.getByRole('button', { name: /^Details of req_/ }).count();
    expect(shown).toBeGreaterThan(0);
    expect(file.trim().split('\r\n')).toHaveLength(1 + shown);
  });

  test('asks for the password before a sensitive action if the sign-in was long ago, then repeats it', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/keys');
    for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
    await page.getByRole('button', { name: 'Create a key' }).click();
    const form = page.getByRole('dialog', { name: 'New API key' });
    await form.getByLabel('Name').fill('Nightly report');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await question.getByLabel('Password', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await form.getByText('Nothing has changed').waitFor();
    await form.getByRole('button', { name: 'Create a key' }).click();
    await question.waitFor();
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    await question.getByText('The current password is wrong').waitFor();
    await question.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
    expect(person.has.keys).toHaveLength(1);
  });

  test('shows requests with their metadata, by page and by key', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const [report, laptop] = person.has.keys;
    person.has.usage = Array.from({ length: 70 }, (_, index) => newUsage(report?.id ?? '', index * 0.4 + 0.05));
    person.has.usage.push(newUsage(laptop?.id ?? '', 29, { model: 'svc-large' }));
    const page = await openAs({ browser, console, person }, '/usage');
    await page
      .getByRole('button', { name: /^Details of req_/ })
      .first()
      .click();
    await page.getByText('sandbox-chat-1').waitFor();
    expect(await page.getByRole('button', { name: /^Details of req_/ }).count()).toBe(50);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('No more requests in this period.').waitFor();
    expect(await page.getByRole('button', { name: /^Details of req_/ }).count()).toBe(71);
    await page.getByLabel('API key').selectOption({ label: 'Old laptop' });
    await expect.poll(() => page.getByRole('button', { name: /^Details of req_/ }).count()).toBe(1);
    await page.getByRole('cell', { name: 'svc-large' }).waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption({ label: 'Requests' });
    await page.getByRole('application', { name: 'Requests by day' }).waitFor();
    await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
    await page.getByText('No requests in this period').waitFor();
  });

  test('retries transient failures, and shows the request id of others', async () => {
    const person = addPerson(console, 'personal');
    failNext(console.faults, 'listConnections', 'service_unavailable');
    const page = await openAs({ browser, console, person }, '/connections');
    await page.getByText('No connected apps').waitFor();
    failNext(console.faults, 'listKeys', 'internal_error');
    await page.goto(`${console.url}/keys`);
    await page.getByText('Something failed on our side').waitFor();
    await page.getByText(/req_[0-9a-z]{26}/).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No keys yet').waitFor();
  });

  test('works by keyboard alone: skip link, navigation, dialog and back to its button', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/keys');
    await page.getByText('No keys yet').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.waitFor();
    await page.keyboard.press('Escape');
    await name.waitFor({ state: 'detached' });
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Create a key');
    await page.getByRole('link', { name: 'Wallet' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.title()).toBe('Wallet · svc console');
    await expect.poll(() => page.locator('h1:focus').allTextContents()).toEqual(['Wallet']);
  });
});

describe.skipIf(!hasChromium())('a release without the API gateway', () => {
  const console = useConsole({ without: ['listKeys', 'getWallet', 'listGatewayUsage'] });
  const browser = useBrowser();

  test('shows that these parts are not available, and the rest works', async () => {
    browser.expectComplaints('Failed to load resource');
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person });
    await page.getByRole('meter', { name: 'This month' }).waitFor();
    await expect.poll(() => page.getByText('Not available in this release').count()).toBe(2);
    for (const path of ['keys', 'wallet', 'usage']) {
      await page.goto(`${console.url}/${path}`);
      await page.getByText('The rest works as usual.').first().waitFor();
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    }
  });
});

describe.skipIf(!hasChromium())('a phone', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('opens the navigation by a button, and closes it on the next page', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/', { viewport: { width: 360, height: 780 } });
    await page.getByRole('button', { name: 'Open the menu' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Wallet' }).click();
    await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

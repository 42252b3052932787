import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish, newInvoice } from '../support/furnish.ts';
import { failNext } from '../support/mock-api/index.ts';
import { addPerson, openAs, PASSWORD } from '../support/people.ts';

describe.skipIf(!hasChromium())('alerts', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('chooses, adds and drops thresholds, and turns the alert of the wallet off', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/usage');
    await page.getByRole('link', { name: 'Email alerts' }).click();
    const chip = (name: string) => page.getByRole('button', { name, exact: true });
    await expect.poll(() => chip('80%').getAttribute('aria-pressed')).toBe('true');
    await chip('80%').click();
    await chip('90%').click();
    await page.getByLabel('Another percentage').fill('33');
    await chip('Add').click();
    expect(await chip('33%').getAttribute('aria-pressed')).toBe('true');
    await page.getByLabel('Another percentage').fill('101');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('A whole number from 1 to 100.').waitFor();
    await page.getByLabel('Another percentage').fill('');
    await page.getByLabel('When the wallet falls below').fill('');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Alerts saved').first().waitFor();
    expect(person.has.alerts).toEqual({ thresholds_percent: [33, 50, 90, 100], wallet_below_micros: null });
  });
});

describe.skipIf(!hasChromium())('extra use', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('is turned on with a ceiling, shown with the limits of the plan, and turned off', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/plans');
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Extra use' }) });
    await card.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog', { name: 'Extra use' });
    await dialog.getByLabel('At most in a month').fill('0');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByLabel('At most in a month').fill('7,50');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await card.getByText('Your wallet has paid €0.00 of €7.50 this month.').waitFor();
    expect(person.has.extraUsage).toEqual({ enabled: true, monthly_max_micros: 7_500_000 });
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await page.getByRole('meter', { name: 'Extra use this month' }).waitFor();
    await page.goBack();
    await card.getByRole('button', { name: 'Turn off' }).click();
    await card.getByRole('button', { name: 'Set up' }).waitFor();
    expect(person.has.extraUsage).toEqual({ enabled: false, monthly_max_micros: 7_500_000 });
  });
});

describe.skipIf(!hasChromium())('the automatic top-up', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('requires the password and a saved payment method to turn on, and turns off at once', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/wallet');
    for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog', { name: 'Automatic top-up' });
    await dialog.getByLabel('Add (EUR)').fill('25,50');
    await dialog.getByLabel('At most in a month').fill('25');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByText('At least the amount of one top-up.').waitFor();
    await dialog.getByLabel('At most in a month').fill('51');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await question.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await dialog.getByText('You have no saved payment method.').waitFor();
    await dialog.getByRole('link', { name: 'See plans' }).waitFor();
    person.has.hasPaymentMethod = true;
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('When less than €5.00 is available, €25.50 is added.').waitFor();
    await page.getByText('Charges at most €51.00 in a calendar month (UTC).').waitFor();
    expect(person.has.autoTopUp).toMatchObject({ enabled: true, below_micros: 5_000_000 });
    for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    expect(person.has.autoTopUp).toMatchObject({ enabled: false, amount_micros: 25_500_000 });
  });

  test('shows that nothing was charged if the payment provider does not respond', async () => {
    const person = addPerson(console, 'personal');
    failNext(console.faults, 'changeAutoTopUp', 'payment_provider_unavailable');
    const page = await openAs({ browser, console, person }, '/wallet');
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('The payment provider is not answering. You were not charged').waitFor();
  });
});

describe.skipIf(!hasChromium())('invoices', () => {
  const console = useConsole();
  const browser = useBrowser();

  test('are listed page by page, each with its links', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/wallet');
    const rows = page.getByRole('table', { name: 'Invoices' }).getByRole('row');
    const newest = rows.filter({ hasText: 'SVC-2026-0003' });
    await newest.getByText('€20.00').waitFor();
    await newest.getByText('due', { exact: true }).waitFor();
    const link = newest.getByRole('link', { name: 'PDF SVC-2026-0003' });
    expect(await link.getAttribute('href')).toBe('https://invoices.example/3/pdf');
    expect(await rows.filter({ hasText: 'SVC-2026-0001' }).getByRole('link').count()).toBe(0);
    person.has.invoices = Array.from({ length: 12 }, (_, index) => newInvoice(12 - index));
    await page.goto(`${console.url}/plans`);
    await expect.poll(() => rows.count()).toBe(1 + 10);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows.count()).toBe(1 + 12);
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });
});

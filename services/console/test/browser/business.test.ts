import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish, newApp } from '../support/furnish.ts';
import { addEvent, failNext } from '../support/mock-api/index.ts';
import { addPerson, openAs } from '../support/people.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);

describe.skipIf(!hasChromium())('apps of a business', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('registers an app, shows its secret once, and copies it', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps');
    await page.getByRole('link', { name: 'Register an app' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Notes for teams');
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/callback#part');
    await page.getByRole('button', { name: 'Register an app' }).click();
    await page.getByText('A redirect URI must have no fragment.').waitFor();
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/callback');
    await page.getByRole('button', { name: 'Register an app' }).click();
    await page.getByRole('dialog', { name: 'Notes for teams is registered' }).waitFor();
    const secret = await page.getByRole('textbox', { name: 'Client secret' }).inputValue();
    expect(secret).toMatch(/^svc_cs_/);
    await page.getByRole('button', { name: 'Copy: Client secret' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: 'Notes for teams', level: 1, exact: true }).waitFor();
    await expect.poll(() => page.content()).not.toContain(secret);
    await page.goBack();
    expect(await page.content()).not.toContain(secret);
  });

  test('moves the focus to the field at fault each time that a form is refused', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps/new');
    const name = page.getByLabel('Name', { exact: true });
    await page.getByLabel('Redirect URI 1', { exact: true }).fill('https://notes.example/callback');
    for (let press = 0; press < 2; press++) {
      await page.getByRole('button', { name: 'Register an app' }).click();
      await expect.poll(() => name.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    }
  });

  test('shows fifty apps first, and goes on from the next', async () => {
    const person = addPerson(console, 'business');
    person.has.apps = Array.from({ length: 60 }, (_, index) => newApp(`App ${index + 1}`));
    const page = await openAs({ browser, console, person }, '/apps');
    const items = page.locator('.app-item');
    await expect.poll(() => items.count()).toBe(50);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => items.count()).toBe(60);
    const link = page.getByRole('link', { name: 'App 51', exact: true });
    await expect.poll(() => link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });

  test('edits an app, and keeps the input if the service refuses it', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    await page.getByLabel('Name', { exact: true }).fill('Notes');
    await page.getByRole('button', { name: 'Add a redirect URI' }).click();
    await page.getByLabel('Redirect URI 2', { exact: true }).fill('http://127.0.0.1/callback');
    failNext(console.faults, 'updateApp', 'service_unavailable');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('temporarily unavailable').waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Changes saved').first().waitFor();
    await page.getByRole('heading', { name: 'Notes', level: 1, exact: true }).waitFor();
    expect(person.has.apps[0]?.redirect_uris).toEqual(['https://notes.example/callback', 'http://127.0.0.1/callback']);
    await page.getByRole('button', { name: 'Remove redirect URI 1' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => person.has.apps[0]?.redirect_uris).toEqual(['http://127.0.0.1/callback']);
  });

  test('stores an icon, and names the fault of a file that is not an image', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    const input = page.locator('input[type=file]');
    await input.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(300 * 1024) });
    await page.getByText('larger than 256 KiB').waitFor();
    await input.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.getByText('Choose a PNG, JPEG or WebP image').waitFor();
    await input.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PNG });
    await page.getByText('Icon saved').first().waitFor();
    expect(console.state.icons.has(app.client_id)).toBe(true);
  });

  test('rotates the secret with an overlap, and shows the new one once', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    await page.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByLabel('The old secret keeps working').selectOption({ label: 'For a week' });
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('button', { name: 'Replace it' }).click();
    const shown = page.getByRole('textbox', { name: 'Client secret' });
    expect(await shown.inputValue()).toMatch(/^svc_cs_/);
    await page.getByText(/The old secret works until/).waitFor();
    // A stray Escape must not lose what is shown once.
    await page.keyboard.press('Escape');
    expect(await shown.isVisible()).toBe(true);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await shown.waitFor({ state: 'detached' });
  });

  test('deactivates after a confirmation, activates, and deletes only with the name typed', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(app.active).toBe(true);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    expect(app.active).toBe(true);
    await page.getByRole('button', { name: 'Delete the app' }).click();
    const confirm = dialog.getByRole('button', { name: 'Delete the app' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel(/To confirm, type the name/).fill(app.name);
    await confirm.click();
    await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Pocket' }).waitFor();
    expect(person.has.apps.map(({ name }) => name)).toEqual(['Pocket']);
  });

  test('proves a domain: copies the proof, shows the content of each place, then verifies and removes it', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps');
    const card = page.getByRole('region', { name: 'Verified domain' });
    await card.getByRole('textbox', { name: 'Domain' }).fill('https://acme.example');
    await card.getByRole('button', { name: 'Add a domain' }).click();
    await card.getByText('Enter a host name such as example.com').first().waitFor();
    await card.getByRole('textbox', { name: 'Domain' }).fill('taken.example');
    await card.getByRole('button', { name: 'Add a domain' }).click();
    await card.getByText('Another account has already verified').waitFor();
    await card.getByRole('textbox', { name: 'Domain' }).fill('Acme.example');
    await card.getByRole('button', { name: 'Add a domain' }).click();
    await card.getByRole('heading', { name: 'acme.example' }).waitFor();
    await card.getByText('not verified', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Copy: Value' }).click();
    await card.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(person.has.domains[0]?.txt_value);
    await card.getByRole('button', { name: 'Check acme.example' }).click();
    await card.getByText('DNS TXT record: different text').waitFor();
    await card.getByText('File: could not be reached').waitFor();
    await card.getByRole('button', { name: 'Check acme.example' }).click();
    await card.getByText('verified', { exact: true }).waitFor();
    expect(await card.getByText('_svc-verification').count()).toBe(0);
    await card.getByRole('button', { name: 'Remove acme.example' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => person.has.domains).toEqual([]);
  });

  test('shows that an operator has suspended an app, and offers no activation', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    Object.assign(app, { active: false, suspended_at: new Date().toISOString() });
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    await page.getByText('This app is suspended').waitFor();
    await page.getByText('suspended by svc').waitFor();
    expect(await page.getByRole('button', { name: 'Activate' }).count()).toBe(0);
  });

  test('explains business accounts to personal accounts', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/apps');
    await page.getByText('For business accounts').waitFor();
  });

  test('shows that an app does not exist', async () => {
    const person = addPerson(console, 'business');
    const page = await openAs({ browser, console, person }, '/apps/app_missing');
    await page.getByRole('heading', { name: 'App not found' }).waitFor();
  });
});

describe.skipIf(!hasChromium())('the webhook of an account', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('is set up from the wallet with a secret shown once, tested, and deleted', async () => {
    const page = await openAs({ browser, console, person: addPerson(console, 'personal') }, '/wallet');
    await page.getByRole('link', { name: 'Account events' }).click();
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('https://ops.example/svc');
    await dialog.getByRole('button', { name: 'Set up the webhook' }).click();
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('cell', { name: 'account.test' }).waitFor();
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByText('No webhook yet').waitFor();
  });
});

describe.skipIf(!hasChromium())('the webhook of an app', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('is set up with a secret shown once, and tested', async () => {
    const person = addPerson(console, 'business');
    const app = newApp('Notes');
    person.has.apps = [app];
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByText('No webhook yet').waitFor();
    await page.getByRole('button', { name: 'Set up the webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill('http://notes.example/webhooks');
    await dialog.getByRole('button', { name: 'Set up the webhook' }).click();
    await dialog.getByText('The URL must begin with https://').waitFor();
    await dialog.getByLabel('Address').fill('https://notes.example/webhooks');
    await dialog.getByRole('button', { name: 'Set up the webhook' }).click();
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('cell', { name: 'queued' }).waitFor();
    // The list follows by itself what becomes of the event.
    const [event] = console.state.events.get(app.client_id) ?? [];
    Object.assign(event ?? {}, { status: 'delivered', attempts: 1, next_attempt_at: null });
    await page.getByRole('cell', { name: 'delivered' }).waitFor();
  });

  test('recovers a failed event by retrying', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByText('Deliveries are blocked').waitFor();
    await page.getByText('Event 2 (subscription.updated) failed on every attempt.').waitFor();
    await page.getByText(/Waiting since/).waitFor();
    await page.getByText('connection refused, after 12 ms').waitFor();
    await page.getByRole('button', { name: 'Retry event 2' }).click();
    await page.getByText('Event queued again').first().waitFor();
    await expect.poll(() => page.getByRole('cell', { name: '0 of 8' }).count()).toBe(2);
    await page.getByText('Deliveries are blocked').waitFor({ state: 'detached' });
    expect(console.state.events.get(app.client_id)?.map(({ status }) => status)).toEqual([
      'queued',
      'queued',
      'delivered',
    ]);
  });

  test('finds an event by its id, and says what blocks the others under every filter', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const [, failed, connected] = console.state.events.get(app.client_id) ?? [];
    Object.assign(connected?.last_attempt ?? {}, { status_code: 302, error: 'unexpected_status' });
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook?status=delivered`);
    await page.getByRole('alert').getByText('Event 2 (subscription.updated)').waitFor();
    await page.getByText('redirects are not followed').waitFor();
    await page.getByLabel('Event ID').fill(` ${failed?.event_id} `);
    await page.getByRole('rowheader', { name: '2' }).waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(1);
    expect(new URL(page.url()).search).toBe(`?event_id=${failed?.event_id}`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByLabel('Event ID').fill('evt_half');
    await page.getByText('This app has no event with this ID.').waitFor();
    expect(asked.filter((path) => path.includes('/events/'))).toEqual([]);
    await page.getByRole('alert').getByRole('button', { name: 'Retry event 2' }).click();
    await page.getByText('Deliveries are blocked').waitFor({ state: 'detached' });
  });

  test.each([390, 768, 1440])(
    'shows a refused action in a separate row, without sideways scrolling at %i px',
    async (width) => {
      const person = addPerson(console, 'business');
      const app = furnish(console, person);
      const viewport = { width, height: 900 };
      const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`, { viewport });
      failNext(console.faults, 'recoverWebhookEvent', 'internal_error');
      await page.getByRole('button', { name: 'Retry event 2' }).click();
      await page.getByRole('table').getByText('Something failed on our side.').waitFor();
      await page.getByRole('button', { name: 'Details of event 2' }).click();
      await page.getByRole('region', { name: 'Payload' }).waitFor();
      const excess = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(excess)).toBe(0);
      const frame = "document.querySelector('.table-frame')";
      expect(await page.evaluate(`${frame}.scrollWidth - ${frame}.clientWidth`)).toBe(0);
      for (const name of ['Retry event 2', 'Skip event 2', 'Details of event 2']) {
        const box = await page.getByRole('button', { name }).last().boundingBox();
        expect((box?.x ?? width) + (box?.width ?? 0), name).toBeLessThanOrEqual(width);
      }
      await page.getByRole('button', { name: 'Retry event 2' }).click();
      await page.getByText('Something failed on our side.').waitFor({ state: 'detached' });
    },
  );

  test('says on which attempt a receiver fails, and marks a blocked webhook wherever its app is listed', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, '/apps');
    await page.getByRole('listitem').filter({ hasText: app.name }).getByText('webhook blocked').waitFor();
    expect(await page.getByText('webhook blocked').count()).toBe(1);
    await page.goto(console.url);
    await page.getByRole('listitem').filter({ hasText: app.name }).getByText('webhook blocked').waitFor();
    await page.goto(`${console.url}/apps/${app.client_id}/webhook`);
    await page.getByRole('navigation', { name: 'Sections' }).getByText('blocked').waitFor();
    const [, failed] = console.state.events.get(app.client_id) ?? [];
    const soon = new Date(Date.now() + 60_000).toISOString();
    Object.assign(failed ?? {}, { status: 'queued', attempts: 3, next_attempt_at: soon });
    Object.assign(console.state.webhooks.get(app.client_id) ?? {}, { state: 'ok', blocked_by_event_id: null });
    await page.reload();
    await expect.poll(() => page.getByText('failing, attempt 3 of 8').count()).toBe(2);
    await page.getByText('Event 2 comes first', { exact: true }).waitFor();
    await page.getByText('A test event takes its turn').waitFor();
    expect(await page.getByText('blocked', { exact: true }).count()).toBe(0);
  });

  test('charts an app’s requests, connections and deliveries by day, for a period', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}`);
    await page.getByRole('link', { name: 'Analytics' }).click();
    await page.getByRole('application', { name: 'Requests by day' }).waitFor();
    await page
      .getByText(/^\d+, of which \d+ failed$/)
      .first()
      .waitFor();
    const asked = page.waitForRequest((request) => request.url().includes('/analytics'));
    await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
    const { searchParams } = new URL((await asked).url());
    const days = (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 86_400_000;
    expect(days).toBe(13);
    await page.getByLabel('Show').selectOption({ label: 'Webhook deliveries' });
    await page.getByRole('application', { name: 'Webhook deliveries by day' }).waitFor();
    await page.getByText('Not accepted').first().waitFor();
  });

  test('skips a failed event after a confirmation', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByRole('button', { name: 'Skip event 2' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('cell', { name: 'skipped' }).waitFor();
  });

  test('refreshes the list if an event was recovered elsewhere', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByRole('button', { name: 'Retry event 2' }).waitFor();
    failNext(console.faults, 'recoverWebhookEvent', 'event_not_failed');
    for (const event of console.state.events.get(app.client_id) ?? []) event.status = 'delivered';
    await page.getByRole('button', { name: 'Retry event 2' }).click();
    await expect.poll(() => page.getByRole('cell', { name: 'delivered' }).count()).toBe(3);
  });

  test('shows the payload and attempts of an event, and delivers a queued one now', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook?status=queued`);
    await page.getByRole('button', { name: 'Details of event 3' }).click();
    await page.getByRole('region', { name: 'Payload' }).getByText('"message": "Hello"').waitFor();
    await page.getByText('No attempt yet.').waitFor();
    await page.getByText('Event 2 comes first: retry or skip it').waitFor();
    expect(await page.getByRole('button', { name: /^Deliver now/ }).count()).toBe(0);
    const [queued, blocking] = console.state.events.get(app.client_id) ?? [];
    Object.assign(blocking ?? {}, { status: 'skipped' });
    Object.assign(queued ?? {}, { next_attempt_at: new Date().toISOString() });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Copy: Event ID' }).click();
    const [newest] = console.state.events.get(app.client_id) ?? [];
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(newest?.event_id);
    await page.getByRole('button', { name: 'Deliver now: event 3' }).click();
    await page.getByText('No events in this state.').waitFor();
    await page.getByLabel('Show').selectOption({ label: 'failed' });
    await expect.poll(() => new URL(page.url()).search).toBe('?status=failed');
    Object.assign(blocking ?? {}, { status: 'failed' });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Details of event 2' }).click();
    await page.getByRole('list').getByText('connection refused, after 12 ms').waitFor();
  });

  test('replaces the signing secret and shows the new one once', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByRole('button', { name: 'Replace the signing secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Replace it' }).click();
    expect(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/);
    await page.getByText(/The old secret works until/).waitFor();
  });

  test('loads older events page by page', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    for (let index = 0; index < 60; index += 1) {
      addEvent(console.state, app.client_id, { status: 'delivered', next_attempt_at: null });
    }
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page
      .getByRole('rowheader', { name: 'No. 1', exact: true })
      .or(page.getByRole('rowheader', { name: '1', exact: true }))
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });

  test('shows code that accepts our signatures and refuses others', async () => {
    const person = addPerson(console, 'business');
    const app = furnish(console, person);
    const page = await openAs({ browser, console, person }, `/apps/${app.client_id}/webhook`);
    await page.getByRole('button', { name: 'Copy: Example in Node.js' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const code = String(await page.evaluate('navigator.clipboard.readText()'));
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const body = Buffer.from('{"event":"integration.test"}');
    const sign = (seconds: number, secret = 'whsec_x'): string => {
      const digest = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');
      return `t=${seconds},v1=${digest}`;
    };
    const now = Math.floor(Date.now() / 1000);
    expect(isGenuine(body, sign(now), 'whsec_x')).toBe(true);
    expect(isGenuine(body, sign(now - 301), 'whsec_x')).toBe(false);
    expect(isGenuine(Buffer.from('{}'), sign(now), 'whsec_x')).toBe(false);
    expect(isGenuine(body, sign(now), 'whsec_y')).toBe(false);
    for (const malformed of [undefined, '', 'v1', `t=${now}`, `${sign(now)}0`, 't=x,v1=é']) {
      expect(isGenuine(body, malformed, 'whsec_x')).toBe(false);
    }
    // Both secrets sign while one replaces the other.
    const [, other] = sign(now, 'whsec_y').split(',');
    for (const secret of ['whsec_x', 'whsec_y']) expect(isGenuine(body, `${sign(now)},${other}`, secret)).toBe(true);
  });
});

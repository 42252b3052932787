import { newId } from '@svc/contracts';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish } from '../support/furnish.ts';
import { findViolations } from '../support/inspect-every-page.ts';
import { organizationOf } from '../support/mock-api/index.ts';
import { addMember, addPerson, openAs, PASSWORD } from '../support/people.ts';

/** Chooses an action of a member's menu by keyboard. */
const act = async (page: Page, member: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: `Manage ${member}` }).press('Enter');
  await page.getByRole('menuitem', { name: action }).press('Enter');
};

describe.skipIf(!hasChromium())('organizations', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  const base = (id: string, path = ''): string => `/o/${id}${path}`;

  test('invites a person, who accepts with the invited address and acts for the organization', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const page = await openAs({ browser, console, person: owner }, '/organization/members');
    await page.getByRole('button', { name: 'Invite a member' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a member' });
    await dialog.getByLabel('Email address').fill(owner.account.email);
    await dialog.getByRole('button', { name: 'Send the invitation' }).click();
    await dialog.getByText('A member already has this address.').waitFor();
    await dialog.getByLabel('Email address').fill('guest@example.com');
    await dialog.getByRole('radio', { name: 'Billing' }).check();
    await dialog.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('button', { name: 'Withdraw the invitation of guest@example.com' }).waitFor();
    const token = organizationOf(console.state, id).invitations[0]?.id ?? '';
    const guest = addPerson(console, 'personal', 'en', { email: 'guest@example.com' });
    const accepting = await openAs({ browser, console, person: guest }, `/invitations?token=${token}`);
    await accepting.getByText('You are signed in as guest@example.com').waitFor();
    expect(await findViolations(accepting)).toEqual([]);
    await accepting.getByRole('button', { name: 'Accept the invitation' }).click();
    await accepting.waitForURL(`**${base(id, '/')}`);
    await accepting.getByRole('heading', { name: 'Overview' }).waitFor();
    await accepting.getByRole('link', { name: 'Seats' }).click();
    await accepting.getByRole('heading', { name: 'Seats', level: 1 }).waitFor();
    expect(await accepting.title()).toBe('Seats · Example Business · svc console');
  });

  test('keeps the token of an invitation over the sign-in, and offers to sign out of another account', async () => {
    const owner = addPerson(console, 'business');
    const { invitations } = organizationOf(console.state, owner.account.svc_user_id);
    invitations.push({ id: 'ivt_1', email: 'guest@example.com', role: 'viewer', expires_at: new Date().toISOString() });
    const stranger = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person: stranger }, '/invitations?token=ivt_1');
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByText('The invitation is for another address than personal@example.com').waitFor();
    await page.getByRole('button', { name: 'Sign out and change' }).click();
    const next = encodeURIComponent('/invitations?token=ivt_1');
    const signIn = page.getByRole('link', { name: 'Sign in' });
    expect(await signIn.getAttribute('href')).toBe(`/sign-in?next=${next}&locale=en`);
    expect(await page.getByRole('link', { name: 'Create an account' }).getAttribute('href')).toBe(
      `/sign-up?next=${next}&locale=en`,
    );
    await signIn.click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).searchParams.get('next')).toBe('/invitations?token=ivt_1');
  });

  test('acts for two organizations in two tabs, each of which keeps its own over a reload', async () => {
    const first = addPerson(console, 'business');
    const second = addPerson(console, 'business', 'en', { email: 'b@example.com', business_name: 'Second Business' });
    const member = addMember(console, first, { email: 'm@example.com', role: 'developer' });
    const membership = { userId: member.account.svc_user_id, role: 'viewer' as const, seat: null };
    organizationOf(console.state, second.account.svc_user_id).memberships.push({
      ...membership,
      joinedAt: new Date().toISOString(),
    });
    first.has.balanceMicros = 11_000_000;
    second.has.balanceMicros = 22_000_000;
    const page = await openAs({ browser, console, person: member }, '/wallet');
    const choose = async (tab: Page, name: RegExp): Promise<void> => {
      await tab.getByRole('button', { name: /^Act for/ }).press('ArrowDown');
      await tab.getByRole('menuitemradio', { name }).click();
      await tab.getByRole('heading', { name: 'Overview' }).waitFor();
    };
    await choose(page, /Example Business/);
    await page.getByRole('link', { name: 'Wallet', exact: true }).click();
    await page.getByText('€11.00').first().waitFor();
    const other = await page.context().newPage();
    await other.goto(`${console.url}/wallet`);
    await other.getByText('€0.00').first().waitFor();
    await choose(other, /Second Business/);
    await other.getByRole('link', { name: 'Wallet', exact: true }).click();
    await other.getByText('€22.00').first().waitFor();
    await page.reload();
    await page.getByText('€11.00').first().waitFor();
    await other.reload();
    await other.getByText('€22.00').first().waitFor();
    expect(await other.getByRole('button', { name: /^Act for/ }).textContent()).toContain('Second Business');
    // Back to oneself, by the palette.
    await other.keyboard.press('Control+k');
    await other.locator('[role=combobox]:focus').waitFor();
    await other.keyboard.type('act for bruno');
    await other.keyboard.press('Enter');
    await other.waitForURL(`${console.url}/`);
    await other.getByRole('link', { name: 'Wallet', exact: true }).click();
    await other.getByText('€0.00').first().waitFor();
    await other.goBack();
    await other.goBack();
    await other.getByText('€22.00').first().waitFor();
  });

  test('repeats no call of one organization for another, and shows why the person may no longer act', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role: 'developer' });
    const page = await openAs({ browser, console, person: member }, base(id, '/keys'));
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('Name', { exact: true }).fill('Report');
    const organization = organizationOf(console.state, id);
    organization.memberships = organization.memberships.filter(({ role }) => role === 'owner');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('heading', { name: 'You cannot act for this organization' }).waitFor();
    expect([member.has.keys, owner.has.keys]).toEqual([[], []]);
    await page.getByRole('link', { name: 'Go to your own account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.getByRole('button', { name: /^Act for/ }).count()).toBe(0);
  });

  test('leads back to the organization after the sign-in, and opens pages about the person at their own address', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role: 'developer' });
    const page = await openAs({ browser, console, person: member }, base(id, '/connections'));
    await page.waitForURL(`${console.url}/connections`);
    await page.getByRole('heading', { name: 'Connected apps', level: 1 }).waitFor();
    await page.goto(`${console.url}${base(id, '/usage')}`);
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    console.state.sessions.clear();
    await page.getByRole('link', { name: 'Wallet', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).searchParams.get('next')).toBe(base(id, '/wallet'));
  });

  test('shows what the role allows now, once a call was refused', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role: 'admin' });
    const page = await openAs({ browser, console, person: member }, base(id, '/organization/members'));
    await page.getByRole('button', { name: 'Invite a member' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a member' });
    await dialog.getByLabel('Email address').fill('guest@example.com');
    const membership = organizationOf(console.state, id).memberships[1];
    if (membership !== undefined) membership.role = 'billing';
    await dialog.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('link', { name: 'Audit log' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Invite a member' }).count()).toBe(0);
    await page.goto(`${console.url}${base(id, '/organization/audit')}`);
    await page.getByText('It takes the role “Admin”, or a higher one.').waitFor();
  });

  test('asks who the person is before a sensitive act, and still acts for the organization', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role: 'developer' });
    const page = await openAs({ browser, console, person: member }, base(id, '/keys'));
    for (const token of console.state.sessions.keys()) console.state.staleSessions.add(token);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Report');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('row', { name: /Report.*Bruno Verdi/ }).waitFor();
    expect([owner.has.keys.length, member.has.keys.length]).toEqual([1, 0]);
  });

  test('changes nothing for a person without an organization', async () => {
    const page = await openAs({ browser, console, person: addPerson(console, 'personal') });
    await page.getByText('0 of 3 done').waitFor();
    expect(await page.getByRole('button', { name: /^Act for/ }).count()).toBe(0);
    expect(await page.title()).toBe('Overview · svc console');
    expect(await page.getByRole('link', { name: 'Members' }).count()).toBe(0);
  });

  test('changes a role, protects the last owner, and removes a member', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    addMember(console, owner, { email: 'm@example.com', role: 'viewer' });
    const page = await openAs({ browser, console, person: owner }, '/organization/members');
    await act(page, 'Bruno Verdi', 'Change the role');
    await page.getByRole('dialog').getByRole('radio', { name: 'Admin' }).check();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('row', { name: /Bruno Verdi.*Admin/ }).waitFor();
    await act(page, 'Example Business', 'Change the role');
    await page.getByRole('dialog').getByRole('radio', { name: 'Viewer' }).check();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('The organization needs an owner.').waitFor();
    await page.keyboard.press('Escape');
    await act(page, 'Bruno Verdi', 'Remove');
    await page.getByRole('alertdialog').getByText('Their seat ends at once.').waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => organizationOf(console.state, id).memberships.map(({ role }) => role)).toEqual(['owner']);
    // Rows have no role while a dialog covers them.
    await page.getByRole('row', { name: /Example Business/ }).waitFor();
    await page.getByRole('row', { name: /Bruno Verdi/ }).waitFor({ state: 'detached' });
  });

  test('lets a member leave, who then acts for themself', async () => {
    const owner = addPerson(console, 'business');
    const member = addMember(console, owner, { email: 'm@example.com', role: 'viewer' });
    const page = await openAs(
      { browser, console, person: member },
      base(owner.account.svc_user_id, '/organization/members'),
    );
    await act(page, 'Bruno Verdi', 'Leave the organization');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave the organization' }).click();
    await page.waitForURL(`${console.url}/`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(organizationOf(console.state, owner.account.svc_user_id).memberships).toHaveLength(1);
  });

  test('buys seats at the checkout, gives one to a member, and takes it away', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const billing = addMember(console, owner, { email: 'm@example.com', role: 'billing' });
    const page = await openAs({ browser, console, person: billing }, base(id, '/organization/seats'));
    await page.getByRole('button', { name: /: Standard$/ }).click();
    await page.getByLabel('Number of seats').fill('2');
    await page.getByRole('button', { name: 'Go to checkout' }).click();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByText('Your seats are ready.').waitFor();
    await page.getByText('2 seats, 0 in use').waitFor();
    await page.getByRole('link', { name: 'Give seats to members' }).click();
    await act(page, 'Bruno Verdi', 'Give or take a seat');
    await page.getByRole('dialog').getByLabel('Seat', { exact: true }).selectOption({ label: 'Standard (2 free)' });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('row', { name: /Bruno Verdi.*Standard/ }).waitFor();
    const own = await openAs({ browser, console, person: billing }, '/plans');
    await own.getByText('Paid by Example Business').waitFor();
    expect(await own.getByRole('button', { name: /portal|Manage|Choose|Switch/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Seats', exact: true }).click();
    await page.getByRole('button', { name: /: Standard$/ }).click();
    await page.getByLabel('Number of seats').fill('0');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('More seats are in use than would be left.').waitFor();
    await page.getByLabel('Number of seats').fill('1');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('1 seat, 1 in use').waitFor();
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await act(page, 'Bruno Verdi', 'Give or take a seat');
    await page.getByRole('dialog').getByLabel('Seat', { exact: true }).selectOption({ label: 'No seat' });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => billing.has.subscription).toBeNull();
  });

  test('limits the keys of a member, and sums up usage by member for a period', async () => {
    const owner = addPerson(console, 'business');
    furnish(console, owner);
    const { svc_user_id: id } = owner.account;
    const member = addMember(console, owner, { email: 'm@example.com', role: 'admin' });
    const page = await openAs({ browser, console, person: member }, base(id, '/organization/members'));
    await act(page, 'Bruno Verdi', 'Limit the API keys');
    await page.getByLabel('Monthly limit').fill('12.50');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Bruno Verdi may spend €12.50 a month').first().waitFor();
    expect(organizationOf(console.state, id).limits.get(member.account.svc_user_id)).toBe(12_500_000);
    await act(page, 'Bruno Verdi', 'Limit the API keys');
    await expect.poll(() => page.getByLabel('Monthly limit').inputValue()).toBe('12.5');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Usage by member' }).click();
    await page.getByLabel('From', { exact: true }).fill('2020-01-01');
    await page.getByRole('row', { name: /Example Business.*12/ }).waitFor();
    await page.getByLabel('To', { exact: true }).fill('2020-01-02');
    await page.getByRole('row', { name: /Example Business.*0/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?from=2020-01-01&to=2020-01-02');
  });

  test('lists acts by filter, page by page, and saves them as CSV', async () => {
    const owner = addPerson(console, 'business');
    const { svc_user_id: id } = owner.account;
    const { acts } = organizationOf(console.state, id);
    const actor = { svc_user_id: id, name: 'Example Business' };
    for (let index = 0; index < 60; index += 1) {
      acts.push({
        id: `aud_${String(index).padStart(26, '0')}`,
        at: new Date(Date.now() - index * 3_600_000).toISOString(),
        actor,
        action: index === 55 ? 'api_key.rotated' : 'app.updated',
        target: { type: 'app', id: 'app_1', name: `Subject ${index}` },
        source: 'console',
      });
    }
    const page = await openAs({ browser, console, person: owner }, '/organization/audit');
    await page.getByText('Subject 49').waitFor();
    expect(await page.getByText('Subject 50').count()).toBe(0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('Subject 59').waitFor();
    await page.getByLabel('Action').selectOption({ label: 'API key replaced' });
    await page.getByText('Subject 55').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('audit-log.csv');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('Nothing happened in this selection.').waitFor();
  });

  test('requires a second factor, which the person who asks for it must have', async () => {
    const owner = addPerson(console, 'business');
    const page = await openAs({ browser, console, person: owner }, '/organization/settings');
    await page.getByRole('button', { name: 'Require a second factor' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('button', { name: 'Require a second factor' }).click();
    await dialog.getByText('Add one in your account settings').waitFor();
    owner.account.has_second_factor = true;
    await dialog.getByRole('button', { name: 'Require a second factor' }).click();
    await page.getByRole('button', { name: 'Stop requiring it' }).waitFor();
    const member = addMember(console, owner, { email: 'm@example.com', role: 'viewer' });
    const refused = await openAs({ browser, console, person: member }, base(owner.account.svc_user_id));
    await refused.getByText('The organization requires a second factor.').waitFor();
    await refused.getByRole('link', { name: 'Account settings' }).click();
    await refused.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
  });

  test('names the creator of a key, and keeps the key of a member who has left', async () => {
    const owner = addPerson(console, 'business');
    furnish(console, owner);
    const [key] = owner.has.keys;
    if (key === undefined) throw new Error('no key');
    key.created_by = { svc_user_id: newId('usr'), name: 'Bruno Verdi' };
    key.creator_left = true;
    const page = await openAs({ browser, console, person: owner }, '/keys');
    const row = page.getByRole('row', { name: /Nightly report/ });
    await row.getByText('creator has left').waitFor();
    await act(page, 'Nightly report', 'Keep the key');
    await expect.poll(() => key.creator_left).toBe(false);
    await row.waitFor();
    await row.getByText('creator has left').waitFor({ state: 'detached' });
  });

  test.each(['usage', 'audit'])('names the field of a period of %s that ends before it begins', async (name) => {
    const owner = addPerson(console, 'business');
    const path = `/organization/${name}?from=2026-11-20&to=2026-11-01`;
    const page = await openAs({ browser, console, person: owner }, path);
    const last = page.getByLabel('To', { exact: true });
    await page.getByText('Not before the first day.').waitFor();
    expect(await last.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    await last.fill('2026-11-21');
    await page.getByText('Not before the first day.').waitFor({ state: 'detached' });
    await page.locator('main .card').first().waitFor();
  });
});

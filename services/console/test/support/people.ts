import { type Account, newId, type Role, SIGNED_IN_COOKIE } from '@svc/contracts';
import type { Page } from 'playwright-core';
import type { TestBrowser } from './browser.ts';
import type { TestConsole } from './console.ts';
import { organizationOf, type Possessions, possessionsOf } from './mock-api/index.ts';

/** Everybody's password. */
export const PASSWORD = 'correct horse battery staple';

/** A person with an account. */
export interface Person {
  readonly account: Account;
  readonly has: Possessions;
}

/** Gives a person an account without the pages. */
export const addPerson = (
  { state }: TestConsole,
  type: 'personal' | 'business',
  locale: 'it' | 'en' = 'en',
  fields: Partial<Account> = {},
): Person => {
  const id = newId('usr');
  const account: Account = {
    svc_user_id: id,
    email: `${type}@example.com`,
    account_type: type,
    business_name: type === 'business' ? 'Example Business' : null,
    display_name: 'Ada Rossi',
    locale,
    has_second_factor: false,
    created_at: new Date().toISOString(),
    email_verified: true,
    organization: type === 'business' ? { id, name: 'Example Business', role: 'owner' } : null,
    ...fields,
  };
  state.accounts.set(account.email, { account, password: PASSWORD });
  return { account, has: possessionsOf(state, account.svc_user_id) };
};

/** Makes a new person a member of a business. */
export const addMember = (
  console: TestConsole,
  { account: { svc_user_id: organizationId } }: Person,
  { email, role, name = 'Bruno Verdi' }: { readonly email: string; readonly role: Role; readonly name?: string },
): Person => {
  const person = addPerson(console, 'personal', 'en', { email, display_name: name });
  organizationOf(console.state, organizationId).memberships.push({
    userId: person.account.svc_user_id,
    role,
    joinedAt: new Date().toISOString(),
    seat: null,
  });
  return person;
};

/** Opens a page as a person who has a session in this browser, and waits until it is there. */
export const openAs = async (
  { browser, console, person }: { browser: TestBrowser; console: TestConsole; person: Person },
  path = '/',
  options: Parameters<TestBrowser['open']>[1] = {},
): Promise<Page> => {
  const token = `token-of-${person.account.email}`;
  console.state.sessions.set(token, person.account.email);
  const { hostname } = new URL(console.url);
  const common = { domain: hostname, expires: -1, httpOnly: true, secure: false };
  const storageState = {
    cookies: [
      { ...common, name: 'svc_console', value: token, path: '/v1/console/session', sameSite: 'Strict' as const },
      { ...common, name: SIGNED_IN_COOKIE, value: '1', path: '/', sameSite: 'Lax' as const },
    ],
    origins: [],
  };
  const page = await browser.open(`${console.url}${path}`, { storageState, ...options });
  await page.locator('h1').waitFor();
  return page;
};

import { inject } from 'vitest';

export type Decision = 'approve' | 'deny';

/** Sends the user to an address of the service and returns the address that the decision leads to. */
export type Visit = (address: string | URL) => Promise<URL>;

interface Page {
  readonly html: string;
  readonly location: string | undefined;
}

const cookies = new Map<string, string>();

/** Visits the pages as the customer's browser does. The customer signs in at the first visit. */
export const visitAnd =
  (decision: Decision): Visit =>
  async (address) => {
    const { email, password } = inject('customer');
    const page = await open(String(address));
    const consent = hasForm(page, 'sign-in') ? await submit(page, 'sign-in', { email, password }) : page;
    const { location } = await submit(consent, 'decision', { decision });
    if (location === undefined) throw new Error('the decision led to a page of the service');
    return new URL(location);
  };

/** Confirms the code of a device at its complete address, and approves. The customer signs in at the first visit. */
export const approveDevice = async (address: string): Promise<void> => {
  const { email, password } = inject('customer');
  const first = await open(address);
  const page = first.html.includes('action="/sign-in"')
    ? await open(new URL('/sign-in', inject('origin')).href, {
        method: 'POST',
        body: new URLSearchParams({ next: address.replace(inject('origin'), ''), email, password }),
        headers: { origin: inject('origin') },
      })
    : first;
  const done = await submit(await submit(page, 'device', {}), 'decision', { decision: 'approve' });
  if (done.html.includes('<form')) throw new Error(`not approved: ${done.html.slice(0, 2_000)}`);
};

const open = async (address: string, init: RequestInit = {}): Promise<Page> => {
  const headers = new Headers(init.headers);
  headers.set('accept', 'text/html');
  headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  const response = await fetch(address, { ...init, headers, redirect: 'manual' });
  for (const cookie of response.headers.getSetCookie()) keep(cookie);
  const location = response.headers.get('location') ?? undefined;
  const next = location === undefined ? undefined : new URL(location, address);
  if (next?.origin === inject('origin')) return open(next.href);
  return { html: await response.text(), location: next?.href };
};

const submit = (page: Page, action: string, values: Record<string, string>): Promise<Page> => {
  const [, target, request] = formPattern(action).exec(page.html) ?? [];
  if (target === undefined || request === undefined) {
    throw new Error(`no form ${action}: ${page.location ?? page.html.slice(0, 2_000)}`);
  }
  return open(new URL(target, inject('origin')).href, {
    method: 'POST',
    body: new URLSearchParams({ request, ...values }),
    headers: { origin: inject('origin') },
  });
};

const hasForm = (page: Page, action: string): boolean => formPattern(action).test(page.html);

/** Matches a form by the end of its action, and its signed field. */
const formPattern = (action: string): RegExp =>
  new RegExp(`<form[^>]*action="([^"]*/${action})"[^>]*>\\s*<input type="hidden" name="request" value="([^"]+)"`);

const keep = (header: string): void => {
  const [pair = '', ...attributes] = header.split('; ');
  const [name = '', value = ''] = pair.split('=', 2);
  if (attributes.includes('Max-Age=0')) cookies.delete(name);
  else cookies.set(name, value);
};

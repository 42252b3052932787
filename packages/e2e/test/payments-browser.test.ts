import { findChromium } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { startBrowser } from './support/browser.ts';
import { inspectPage } from './support/inspect-page.ts';
import { type LandingServer, startLandingServer } from './support/landing-server.ts';
import { type Person, signUp } from './support/people.ts';
import { type PageWatch, watchPages } from './support/watch-page.ts';

const executable = await findChromium();
const RENEWAL_SECONDS = 32 * 86_400;

const languages = {
  en: {
    declined: 'The card was declined. Nothing was paid',
    asked: 'do you want to pay €20.00 to svc?',
    notConfirmed: 'The payment was not confirmed',
    canceled: 'The subscription will end with this period.',
    resumed: 'The subscription continues.',
    planChanged: 'The plan was changed.',
    overdue: 'The last payment failed',
    portalDeclined: 'The card was declined. Nothing was changed.',
    paid: 'The payment succeeded.',
    missing: 'This payment page has expired',
  },
  it: {
    declined: 'La carta è stata rifiutata. Non è stato pagato nulla',
    asked: 'vuoi pagare 20,00 € a svc?',
    notConfirmed: 'Il pagamento non è stato confermato',
    canceled: 'L’abbonamento terminerà con questo periodo.',
    resumed: 'L’abbonamento continua.',
    planChanged: 'Il piano è stato cambiato.',
    overdue: 'L’ultimo pagamento non è riuscito',
    portalDeclined: 'La carta è stata rifiutata. Non è cambiato nulla.',
    paid: 'Il pagamento è riuscito.',
    missing: 'Questa pagina di pagamento è scaduta',
  },
} as const;

/** The sandbox's own checkout and portal, as a person goes through them; in each language, wide and on a phone. */
describe.skipIf(executable === undefined).each(['en', 'it'] as const)('sandbox payments in a browser, %s', (locale) => {
  const text = languages[locale];
  let browser: Browser;
  let page: Page;
  let shop: LandingServer;
  let watch: PageWatch;
  let person: Person;

  beforeAll(async () => {
    browser = await startBrowser(String(executable));
    shop = await startLandingServer();
    watch = watchPages([inject('baseUrl'), shop.origin], /status of 404/);
    page = watch.follow(await browser.newPage({ locale: locale === 'it' ? 'it-IT' : 'en-GB' }));
    person = await signUp('personal');
  });
  afterAll(async () => {
    shop.close();
    await browser.close();
  });

  const open = async (url: string): Promise<void> => {
    const answer = await page.goto(url);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(await page.locator('html').getAttribute('lang')).toBe(locale);
  };
  const press = (action: string) => page.locator(`button[value=${action}]`).click();
  const payWith = async (card: string): Promise<void> => {
    await page.locator(`input[value=${card}]`).check();
    await press('pay');
  };
  const current = async () => {
    const { body } = await call('GET', '/v1/subscriptions', { token: person.token });
    return body.subscription;
  };
  const startCheckout = async (): Promise<string> => {
    const returns = { success_url: `${shop.origin}/paid?from=svc`, cancel_url: `${shop.origin}/left` };
    const body = { plan_id: 'standard', ...returns };
    const checkout = await call('POST', '/v1/subscriptions/checkout', { token: person.token, body });
    expect(checkout.status, checkout.text).toBe(200);
    return String(checkout.body.url);
  };
  const openPortal = async (): Promise<void> => {
    const body = { return_url: `${shop.origin}/account` };
    const portal = await call('POST', '/v1/subscriptions/portal', { token: person.token, body });
    expect(portal.status, portal.text).toBe(200);
    await open(String(portal.body.url));
  };

  test('checkout: is left without a charge, and leads back to where it was opened', async () => {
    await open(await startCheckout());
    await press('cancel');
    await page.waitForURL(`${shop.origin}/left`);
    expect(await current()).toBeNull();
  });

  test('checkout: a declined card, a confirmation that the person refuses at the bank, then one that succeeds', async () => {
    const url = await startCheckout();
    await open(url);
    await inspectPage(page, `checkout-${locale}`);
    await payWith('declines');
    await page.getByRole('alert').filter({ hasText: text.declined }).waitFor();
    await inspectPage(page, `checkout-declined-${locale}`);
    await payWith('asks_to_confirm');
    await page.getByText(text.asked).waitFor();
    await inspectPage(page, `checkout-bank-${locale}`);
    await press('fail');
    await page.getByRole('alert').filter({ hasText: text.notConfirmed }).waitFor();
    expect(await current()).toBeNull();
    await payWith('asks_to_confirm');
    await press('confirm');
    await page.waitForURL(`${shop.origin}/paid?**`);
    const visit = shop.visits.at(-1)?.searchParams;
    expect([visit?.get('from'), visit?.get('session_id')]).toEqual(['svc', new URL(url).pathname.split('/').at(-1)]);
    expect(await current()).toMatchObject({ status: 'active', plan: { id: 'standard' } });
    await open(url);
    await inspectPage(page, `checkout-paid-${locale}`);
  });

  test('portal: cancels at the end of the period and undoes it, changes the plan, and leads back', async () => {
    await openPortal();
    await inspectPage(page, `portal-${locale}`);
    await page.locator('details:has(button[value=cancel]) summary').click();
    await press('cancel');
    await page.getByRole('status').filter({ hasText: text.canceled }).waitFor();
    expect(await current()).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await inspectPage(page, `portal-canceled-${locale}`);
    await press('resume');
    await page.getByRole('status').filter({ hasText: text.resumed }).waitFor();
    expect(await current()).toMatchObject({ cancel_at_period_end: false });
    await page.locator('details:has(button[value=change_plan]) summary').click();
    await page.locator('input[value=starter]').check();
    await inspectPage(page, `portal-plans-${locale}`);
    await press('change_plan');
    await page.getByRole('status').filter({ hasText: text.planChanged }).waitFor();
    expect(await current()).toMatchObject({ plan: { id: 'starter' } });
    await press('return');
    await page.waitForURL(`${shop.origin}/account`);
  });

  test('portal: shows a failed renewal, and takes its payment from another card', async () => {
    const failed = `/sandbox/payments/subscriptions/${(await current())?.id}`;
    await call('PATCH', failed, { body: { card: 'declines_renewals' } });
    await call('POST', `${failed}/advance`, { body: { seconds: RENEWAL_SECONDS } });
    expect(await current()).toMatchObject({ status: 'past_due' });
    await openPortal();
    await page.getByRole('heading', { name: text.overdue }).waitFor();
    await inspectPage(page, `portal-overdue-${locale}`);
    await press('pay');
    await page.getByRole('status').filter({ hasText: text.portalDeclined }).waitFor();
    expect(await current()).toMatchObject({ status: 'past_due' });
    // The choice of cards is open already: it is what helps here.
    await page.locator('input[value=succeeds]').check();
    await press('change_card');
    await press('pay');
    await page.getByRole('status').filter({ hasText: text.paid }).waitFor();
    expect(await current()).toMatchObject({ status: 'active' });
  });

  test('an expired page explains how to continue', async () => {
    await open(`${inject('baseUrl')}/sandbox/payments/portal/none`);
    await page.getByRole('heading', { name: text.missing }).waitFor();
    expect(await page.locator('main a').getAttribute('href')).toBe('/');
    await inspectPage(page, `payments-missing-${locale}`);
  });

  test('loads no foreign resources and violates no policy', () => {
    expect(watch.outside()).toEqual([]);
    expect(watch.complaints()).toEqual([]);
  });
});

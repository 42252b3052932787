import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RETURNS, type TestSandbox, testSandbox } from './support/sandbox.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());

const submit: TestSandbox['submit'] = (...args) => sandbox.submit(...args);
const locationOf = async (answer: Promise<{ headers: Headers }>) => (await answer).headers.get('location');
const see = (path: string, language = 'en-GB,en;q=0.9') =>
  sandbox.call('GET', path, { headers: { 'accept-language': language } });

test('shows the purchase, with a policy that allows no script and no frame', async () => {
  const { path } = await sandbox.startCheckout();
  const page = await see(path);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.text).toContain('€5.00 <span>per month</span>');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:9 https://shop.example");
  expect(policy).not.toContain('unsafe');
  expect(page.text).not.toContain('<script');
});

test('redirects a paid checkout to the success URL, each time it is submitted', async () => {
  const { path, customer } = await sandbox.startCheckout();
  const paid = await submit(path, 'pay');
  expect([paid.status, paid.headers.get('location')]).toEqual([303, RETURNS.successUrl]);
  expect(await locationOf(submit(path, 'pay'))).toBe(RETURNS.successUrl);
  expect(await sandbox.current(customer)).toMatchObject({ status: 'active' });
  expect((await see(path)).text).toContain('is already paid');
});

test('encodes a redirect outside of ASCII as browsers do', async () => {
  const { path } = await sandbox.startCheckout({ successUrl: 'https://caffè.example/grazie?à=ü' });
  expect(await locationOf(submit(path, 'pay'))).toBe('https://xn--caff-8oa.example/grazie?%C3%A0=%C3%BC');
});

test('redirects to the cancel URL byte for byte, and the checkout stays open', async () => {
  const { path } = await sandbox.startCheckout();
  expect(await locationOf(submit(path, 'cancel'))).toBe(RETURNS.cancelUrl);
  expect((await submit(path, 'pay')).status).toBe(303);
});

test('reports a declined card and accepts another one', async () => {
  const { path, customer } = await sandbox.startCheckout();
  expect(await locationOf(submit(path, 'pay', { card: 'declines' }))).toBe(path);
  expect((await see(path)).text).toContain('The card was declined');
  expect(await sandbox.current(customer)).toBeUndefined();
  await submit(path, 'pay');
  expect(await sandbox.current(customer)).toMatchObject({ status: 'active' });
});

test("shows the bank's question and pays only once it is confirmed", async () => {
  const { path, customer } = await sandbox.startCheckout();
  const current = () => sandbox.current(customer);
  expect(await locationOf(submit(path, 'confirm'))).toBe(path);
  expect(await locationOf(submit(path, 'pay', { card: 'asks_to_confirm' }))).toBe(path);
  const question = await see(path);
  expect(question.text).toContain('do you want to pay €5.00 to svc?');
  expect(question.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await current()).toBeUndefined();
  await submit(path, 'fail');
  expect((await see(path)).text).toContain('The payment was not confirmed');
  expect(await locationOf(submit(path, 'confirm'))).toBe(path);
  expect(await current()).toBeUndefined();
  await submit(path, 'pay', { card: 'asks_to_confirm' });
  expect(await locationOf(submit(path, 'confirm'))).toBe(RETURNS.successUrl);
  expect(await current()).toMatchObject({ status: 'active' });
  expect(await locationOf(submit(path, 'fail'))).toBe(RETURNS.successUrl);
});

test("speaks the chosen language, else the browser's, else Italian", async () => {
  const { path } = await sandbox.startCheckout();
  expect((await see(path, 'it-IT,it')).text).toMatch(/<html lang="it">[\s\S]*Paga 5,00\s€/);
  expect((await see(path, 'fr, en;q=0.5')).text).toContain('<html lang="en">');
  expect((await see(path, 'fr')).text).toContain('<html lang="it">');
  const chosen = await see(`${path}?locale=en`, 'it');
  expect(chosen.text).toContain('<html lang="en">');
  expect(chosen.text).toContain('name="locale" value="en"');
  expect(await locationOf(submit(path, 'pay', { card: 'declines', locale: 'en' }))).toBe(`${path}?locale=en`);
  expect((await see(`${path}?locale=de`)).status).toBe(422);
});

test('explains why a second purchase was reverted', async () => {
  const one = await sandbox.startCheckout();
  const { path } = await sandbox.startCheckout({ planId: 'full', customer: one.customer });
  await submit(one.path, 'pay');
  expect(await locationOf(submit(path, 'pay'))).toBe(path);
  expect((await see(path)).text).toContain('You already have an active subscription');
  expect((await sandbox.call('POST', `${path}/complete`)).body.detail.code).toBe('subscription_already_active');
});

test('returns 404 for an unknown session: a page to browsers, an error to programs', async () => {
  const unknown = `/sandbox/payments/sessions/${newId('cs')}`;
  expect((await sandbox.call('GET', unknown)).status).toBe(404);
  expect((await submit(unknown, 'pay')).status).toBe(404);
  expect((await sandbox.call('POST', `${unknown}/complete`)).status).toBe(404);
  const page = await sandbox.call('GET', unknown, { headers: { accept: 'text/html', 'accept-language': 'en' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(page.text).toMatch(/has expired[\s\S]*href="\/"/);
  const form = { action: 'pay', locale: 'en' };
  const late = await sandbox.call('POST', `${unknown}/submit`, { form, headers: { accept: 'text/html' } });
  expect([late.status, late.headers.get('location')]).toEqual([303, `${unknown}?locale=en`]);
});

test('takes a promotion code off the first payment of a plan', async () => {
  const { path, customer, id } = await sandbox.startCheckout();
  expect(await locationOf(submit(path, 'apply_code', { promotion_code: 'none' }))).toBe(`${path}?notice=unknown_code`);
  expect((await see(`${path}?notice=unknown_code`)).text).toContain('This code is not valid');
  expect(await locationOf(submit(path, 'apply_code', { promotion_code: ' welcome20 ' }))).toBe(path);
  const page = (await see(path)).text;
  expect(page).toMatch(/Promotion code WELCOME20<\/dt><dd>−€1.00[\s\S]*Due today<\/dt><dd>€4.00[\s\S]*Pay €4.00/);
  expect(page).toContain('After the first payment you pay €5.00 per month');
  await submit(path, 'remove_code');
  expect((await see(path)).text).toContain('Pay €5.00');
  await submit(path, 'apply_code', { promotion_code: 'WELCOME20' });
  await submit(path, 'pay');
  await submit(path, 'remove_code');
  expect(await sandbox.stripe.checkout.sessions.retrieve(id)).toMatchObject({
    status: 'complete',
    amount_total: 400,
    currency: 'eur',
    discounts: [{ promotion_code: 'promo_WELCOME20' }],
    total_details: { amount_discount: 100 },
  });
  const [invoice] = (await sandbox.stripe.invoices.list({ customer })).data;
  expect(invoice).toMatchObject({ total: 400, total_excluding_tax: 328 });
});

test('takes no promotion code off a top-up', async () => {
  const price_data = { currency: 'eur', unit_amount: 1_000, product_data: { name: 'Wallet top-up' } };
  const { url } = await sandbox.stripe.checkout.sessions.create({
    mode: 'payment',
    customer: await sandbox.newCustomer(),
    line_items: [{ price_data, quantity: 1 }],
    success_url: RETURNS.successUrl,
    cancel_url: RETURNS.cancelUrl,
  });
  const { pathname: path } = new URL(url ?? '');
  await submit(path, 'apply_code', { promotion_code: 'WELCOME20' });
  expect((await see(path)).text).toContain('Pay €10.00');
  expect((await see(path)).text).not.toContain('promotion');
});

test('refuses an unknown action', async () => {
  const { path } = await sandbox.startCheckout();
  const answer = await submit(path, 'steal');
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['form', 'action']]);
});

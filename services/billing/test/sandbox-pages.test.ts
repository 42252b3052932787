import { newId } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

const RETURNS = { success_url: 'http://127.0.0.1:9/done?a=1#x', cancel_url: 'https://shop.example/back?b=%20' };
const start = async (successUrl = RETURNS.success_url) => {
  const userId = newId('usr');
  const token = await billing.tokens.consoleSession({ userId });
  const { body } = await billing.call('POST', '/v1/subscriptions/checkout', {
    token,
    json: { plan_id: 'basic', ...RETURNS, success_url: successUrl },
  });
  return { userId, token, id: body.session_id, path: `/sandbox/payments/sessions/${body.session_id}` };
};
const submit = (path: string, action: string, more: Record<string, string> = {}) =>
  billing.call('POST', `${path}/submit`, { form: { action, ...more } });
const see = (path: string, language = 'en-GB,en;q=0.9') =>
  billing.call('GET', path, { headers: { 'accept-language': language } });
const openPortal = async (token: string) => {
  const { status, body } = await billing.call('POST', '/v1/subscriptions/portal', {
    token,
    json: { return_url: RETURNS.cancel_url },
  });
  return { status, body, path: status === 200 ? new URL(body.url).pathname : '' };
};

describe('the checkout page', () => {
  test('shows what is bought, with a policy that allows no script and no frame', async () => {
    const { path } = await start();
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
  test('leads to the success URL with the session id, as it was otherwise', async () => {
    const { path, id, token } = await start();
    const paid = await submit(path, 'pay');
    expect([paid.status, paid.headers.get('location')]).toEqual([
      303,
      `http://127.0.0.1:9/done?a=1&session_id=${id}#x`,
    ]);
    expect((await submit(path, 'pay')).headers.get('location')).toBe(paid.headers.get('location'));
    expect((await billing.call('GET', '/v1/subscriptions', { token })).body.subscription.status).toBe('active');
    expect((await see(path)).text).toContain('is paid');
  });
  test('leads to an address outside of ASCII as browsers write it', async () => {
    const { path, id } = await start('https://caffè.example/grazie?à=ü');
    expect((await submit(path, 'pay')).headers.get('location')).toBe(
      `https://xn--caff-8oa.example/grazie?%C3%A0=%C3%BC&session_id=${id}`,
    );
  });
  test('leads back on cancel, byte for byte, and stays open', async () => {
    const { path } = await start();
    expect((await submit(path, 'cancel')).headers.get('location')).toBe(RETURNS.cancel_url);
    expect((await submit(path, 'pay')).status).toBe(303);
  });
  test('says that a card was declined, and takes the next one', async () => {
    const { path, token } = await start();
    expect((await submit(path, 'pay', { card: 'declines' })).headers.get('location')).toBe(path);
    expect((await see(path)).text).toContain('The card was declined');
    expect((await billing.call('GET', '/v1/subscriptions', { token })).body.subscription).toBeNull();
    await submit(path, 'pay');
    expect((await billing.call('GET', '/v1/subscriptions', { token })).body.subscription.status).toBe('active');
  });
  test('shows the question of the bank, and pays only when it is confirmed', async () => {
    const { path, token, id } = await start();
    const current = async () => (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;
    expect((await submit(path, 'confirm')).headers.get('location')).toBe(path);
    expect((await submit(path, 'pay', { card: 'asks_to_confirm' })).headers.get('location')).toBe(path);
    const question = await see(path);
    expect(question.text).toContain('do you want to pay €5.00 to svc?');
    expect(question.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await current()).toBeNull();
    await submit(path, 'fail');
    expect((await see(path)).text).toContain('The payment was not confirmed');
    expect((await submit(path, 'confirm')).headers.get('location')).toBe(path);
    expect(await current()).toBeNull();
    await submit(path, 'pay', { card: 'asks_to_confirm' });
    const paid = await submit(path, 'confirm');
    expect(paid.headers.get('location')).toContain(`session_id=${id}`);
    expect(await current()).toMatchObject({ status: 'active' });
    expect((await submit(path, 'fail')).headers.get('location')).toBe(paid.headers.get('location'));
  });
  test('speaks the language of the browser, or the one that is asked for; Italian where nothing else is known', async () => {
    const { path } = await start();
    expect((await see(path, 'it-IT,it')).text).toMatch(/<html lang="it">[\s\S]*Paga 5,00\s€/);
    expect((await see(path, 'fr, en;q=0.5')).text).toContain('<html lang="en">');
    expect((await see(path, 'fr')).text).toContain('<html lang="it">');
    const chosen = await see(`${path}?locale=en`, 'it');
    expect(chosen.text).toContain('<html lang="en">');
    expect(chosen.text).toContain('name="locale" value="en"');
    expect((await submit(path, 'pay', { card: 'declines', locale: 'en' })).headers.get('location')).toBe(
      `${path}?locale=en`,
    );
    expect((await see(`${path}?locale=de`)).status).toBe(422);
  });
  test('of a second purchase says why it was not taken', async () => {
    const one = await start();
    const { body } = await billing.call('POST', '/v1/subscriptions/checkout', {
      token: one.token,
      json: { plan_id: 'full', ...RETURNS },
    });
    const path = `/sandbox/payments/sessions/${body.session_id}`;
    await submit(one.path, 'pay');
    expect((await submit(path, 'pay')).headers.get('location')).toBe(path);
    expect((await see(path)).text).toContain('Another subscription is active');
  });
  test('is not found for an unknown session, and refuses an unknown action', async () => {
    const unknown = `/sandbox/payments/sessions/${newId('cs')}`;
    expect((await billing.call('GET', unknown)).status).toBe(404);
    expect((await submit(unknown, 'pay')).status).toBe(404);
    expect((await billing.call('POST', `${unknown}/complete`)).status).toBe(404);
    const page = await billing.call('GET', unknown, { headers: { accept: 'text/html', 'accept-language': 'en' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toMatch(/not open any more[\s\S]*href="\/"/);
    const form = { action: 'pay', locale: 'en' };
    const late = await billing.call('POST', `${unknown}/submit`, { form, headers: { accept: 'text/html' } });
    expect([late.status, late.headers.get('location')]).toEqual([303, `${unknown}?locale=en`]);
    const { path } = await start();
    const answer = await submit(path, 'steal');
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['form', 'action']]);
  });
});

describe('the portal', () => {
  const open = async () => {
    const owner = await billing.subscribe();
    const { path } = await openPortal(owner.token);
    const current = async () =>
      (await billing.call('GET', '/v1/subscriptions', { token: owner.token })).body.subscription;
    return { ...owner, path, current };
  };
  test('is missing for an account that never bought anything', async () => {
    const token = await billing.tokens.consoleSession();
    const portal = await openPortal(token);
    expect([portal.status, portal.body.detail.code]).toEqual([409, 'billing_account_missing']);
  });
  test('cancels at the period end, resumes, changes the plan, and returns', async () => {
    const { path, current } = await open();
    expect((await see(path)).text).toMatch(/Basic <span class="tag good">active/);
    expect((await submit(path, 'cancel')).headers.get('location')).toBe(`${path}?notice=canceled`);
    expect(await current()).toMatchObject({ cancel_at_period_end: true });
    expect((await see(`${path}?notice=canceled`)).text).toMatch(/will end with its period[\s\S]*Keep the subscription/);
    await submit(path, 'resume');
    expect(await current()).toMatchObject({ cancel_at_period_end: false });
    await submit(path, 'change_plan', { plan_id: 'yearly' });
    const changed = await current();
    expect(changed.plan.id).toBe('yearly');
    expect(Date.parse(changed.current_period_end) - Date.parse(changed.current_period_start)).toBeGreaterThan(
      360 * 86_400_000,
    );
    expect((await submit(path, 'return')).headers.get('location')).toBe(RETURNS.cancel_url);
  });
  test('tells of a failed renewal, and pays it once there is a card that pays', async () => {
    const { path, current, subscriptionId } = await open();
    const saved = await submit(path, 'change_card', { card: 'declines_renewals' });
    expect(saved.headers.get('location')).toBe(`${path}?notice=card_saved`);
    await billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}/advance`, {
      json: { seconds: 32 * 86_400 },
    });
    expect(await current()).toMatchObject({ status: 'past_due' });
    expect((await see(path)).text).toMatch(/The last payment failed[\s\S]*Pay €5.00 now/);
    expect((await submit(path, 'pay')).headers.get('location')).toBe(`${path}?notice=declined`);
    expect((await submit(path, 'change_card', { card: 'declines' })).headers.get('location')).toBe(
      `${path}?notice=declined`,
    );
    await submit(path, 'change_card', { card: 'asks_to_confirm' });
    expect((await submit(path, 'confirm')).headers.get('location')).toBe(path);
    await submit(path, 'pay');
    expect((await see(path)).text).toContain('do you want to pay €5.00 to svc?');
    expect((await submit(path, 'fail')).headers.get('location')).toBe(`${path}?notice=not_confirmed`);
    expect(await current()).toMatchObject({ status: 'past_due' });
    await submit(path, 'pay');
    expect((await submit(path, 'confirm')).headers.get('location')).toBe(`${path}?notice=paid`);
    expect(await current()).toMatchObject({ status: 'active' });
    expect((await submit(path, 'pay')).headers.get('location')).toBe(path);
  });
  test('pays what was given up, and shows nothing of what has ended', async () => {
    const { path, current, subscriptionId } = await open();
    const play = (status: string) =>
      billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status } });
    await play('unpaid');
    expect((await submit(path, 'pay')).headers.get('location')).toBe(`${path}?notice=paid`);
    expect(await current()).toMatchObject({ status: 'active' });
    await play('canceled');
    expect((await see(path)).text).toContain('There is no subscription');
    expect((await submit(path, 'resume')).headers.get('location')).toBe(path);
  });
  test('takes another interval only with a card that pays for it', async () => {
    const { path, current } = await open();
    await submit(path, 'change_card', { card: 'declines_renewals' });
    const refused = await submit(path, 'change_plan', { plan_id: 'yearly' });
    expect(refused.headers.get('location')).toBe(`${path}?notice=declined`);
    await submit(path, 'change_plan', { plan_id: 'full' });
    expect(await current()).toMatchObject({ plan: { id: 'full' } });
    expect((await submit(path, 'change_card')).body.detail[0]).toMatchObject({
      loc: ['form', 'card'],
      type: 'missing',
    });
  });
  test('refuses an unknown plan, and none', async () => {
    const { token } = await billing.subscribe();
    const { path } = await openPortal(token);
    expect((await submit(path, 'change_plan')).body.detail[0]).toMatchObject({
      loc: ['form', 'plan_id'],
      type: 'missing',
    });
    const answer = await billing.call('POST', `${path}/submit`, { form: { action: 'change_plan', plan_id: 'none' } });
    expect(answer.body.detail[0]).toMatchObject({ loc: ['form', 'plan_id'], type: 'value_error' });
  });
  test('is not found for an unknown visit, and after an hour', async () => {
    const { token } = await billing.subscribe();
    const { path } = await openPortal(token);
    await billing.setClock(new Date(Date.now() + 3_601_000));
    expect((await see(path)).status).toBe(404);
    await billing.db('test_clock').update({ at: null });
    expect((await billing.call('GET', '/sandbox/payments/portal/none')).status).toBe(404);
  });
});

describe('the sandbox', () => {
  test('knows no events of the other provider', async () => {
    const answer = await billing.call('POST', '/v1/payments/stripe/events', { json: {} });
    expect([answer.status, answer.body.detail.code]).toEqual([404, 'not_found']);
  });
});

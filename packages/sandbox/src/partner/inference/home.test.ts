import type { Usage } from '@svc/partner-sdk';
import { expect, test } from 'vitest';
import { en } from '../texts/en.ts';
import { it as italian } from '../texts/it.ts';
import { usageView } from './home.ts';

const window = { used_percent: 20, used_micros: 400, limit_micros: 3_000_000, resets_at: '2026-10-08T00:00:00.000Z' };
const usage: Usage = {
  status: 'active',
  plan: { id: 'plus', name: 'Plus' },
  period: null,
  weekly: window,
  monthly: window,
  pending_requests: 0,
  max_pending_requests: 2,
  services: { chat: true, audio_transcription: false },
  extra: { enabled: false, used_micros: 0, limit_micros: 0 },
  app: {
    paused: false,
    used_micros: 1_500_000,
    held_micros: 100_000,
    limit_micros: 2_000_000,
    period: 'week',
    resets_at: '2026-10-08T00:00:00.000Z',
    expires_at: null,
  },
};
const render = (app: object, texts = en): string =>
  usageView({ ...usage, app: { ...usage.app, ...app } }, { texts, serviceUrl: 'https://svc.example/' }, 'EUR').markup;

test('shows what the limit leaves, in the currency, and links to the page that changes it', () => {
  expect(render({})).toContain('This app has €0.40 of €2.00 left this week.');
  expect(render({})).toContain('href="https://svc.example/connections"');
  expect(render({ period: 'total' })).toContain('€0.40 of €2.00 left.');
  expect(render({}, italian).replaceAll('\u00a0', ' ')).toContain('restano 0,40 € su 2,00 €');
});

test('shows the use without a limit, and a pause', () => {
  expect(render({ limit_micros: null, period: null })).toContain('has used €1.50 this week');
  expect(render({ paused: true })).toContain('You have paused it');
});

test('shows amounts below a cent exactly, and larger ones in cents', () => {
  expect(render({})).toContain('>€0.0004</span> of €3.00;');
});

test.each([
  [null, 'You have no plan yet.', 'Choose a plan'],
  ['canceled', 'Your plan has ended', 'Choose a plan'],
  ['unpaid', 'Your plan has ended', 'Choose a plan'],
  ['incomplete', 'waits for a payment', 'Open your plan'],
  ['paused', 'is paused', 'Open your plan'],
] as const)('offers no use of a plan with the status %s, and links to the plans', (status, reason, link) => {
  const view = { texts: en, serviceUrl: 'https://svc.example/' };
  const { markup } = usageView({ ...usage, status }, view, 'EUR');
  expect(markup).toContain(reason);
  expect(markup).toContain(`<a href="https://svc.example/plans">${link}`);
  expect(markup).not.toMatch(/Plus|left this week|progress/);
});

test('warns of a failed payment while the plan still works', () => {
  const { markup } = usageView(
    { ...usage, status: 'past_due' },
    { texts: en, serviceUrl: 'https://svc.example/' },
    'EUR',
  );
  expect(markup).toContain('Your last payment failed.');
  expect(markup).toContain('€0.40 of €2.00 left');
});

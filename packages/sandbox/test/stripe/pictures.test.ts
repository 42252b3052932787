import { join } from 'node:path';
import type { ConfiguredPlan } from '@svc/contracts';
import { findChromium } from '@svc/testing';
import { usePictureBook } from '@svc/testing/pictures';
import { describe, test } from 'vitest';
import { createCatalog } from '../../src/stripe/catalog.ts';
import type { HostedSession } from '../../src/stripe/hosted-session.ts';
import type { HostedSubscription } from '../../src/stripe/hosted-subscription.ts';
import { type HostedInvoice, taxOf } from '../../src/stripe/invoice.ts';
import { checkoutPage } from '../../src/stripe/pages/checkout-page.ts';
import { type Locale, languageIn } from '../../src/stripe/pages/page-language.ts';
import { portalPage } from '../../src/stripe/pages/portal-page.ts';
import { invoicePage } from '../../src/stripe/stripe-server.ts';

const NOW = new Date('2026-11-26T10:00:00Z');
const PERIOD_END = new Date('2026-12-16T08:00:00Z');
const PERIOD_START = new Date('2026-11-16T08:00:00Z');

const PLAN: ConfiguredPlan = {
  id: 'standard',
  name: 'Standard',
  description: 'For everyday use, with audio.',
  weekly_limit_micros: 5_000_000,
  monthly_limit_micros: 15_000_000,
  services: { chat: true, audio_transcription: true },
  price: { amount_micros: 20_000_000, currency: 'EUR', interval: 'month' },
};

const SESSION: HostedSession = {
  id: 'cs_pictures',
  customer: 'cus_pictures',
  description: PLAN.name,
  planId: PLAN.id,
  interval: 'month',
  amountMicros: 20_000_000,
  currency: 'EUR',
  promotionCode: null,
  discountMicros: 0,
  successUrl: 'https://svc.example/plans',
  cancelUrl: 'https://svc.example/plans',
  expiresAt: PERIOD_END,
  status: 'open',
  subscriptionId: null,
  isChallenged: false,
  failure: null,
};

const SUBSCRIPTION: HostedSubscription = {
  id: 'sub_pictures',
  customer: 'cus_pictures',
  planId: PLAN.id,
  quantity: 1,
  interval: 'month',
  status: 'active',
  anchor: PERIOD_START,
  periodStart: PERIOD_START,
  periodEnd: PERIOD_END,
  cancelAtPeriodEnd: false,
  endedAt: null,
  card: 'succeeds',
  whenUnpaid: 'canceled',
  clockAheadSeconds: 0,
  failedAttempts: 0,
  nextAttemptAt: null,
  creditMicros: 0,
  paidMicros: PLAN.price.amount_micros,
};

const INVOICE: HostedInvoice = {
  id: 'in_pictures',
  number: 'SVC-2026-0003',
  customer: 'cus_pictures',
  kind: 'subscription',
  planName: PLAN.name,
  periodStart: PERIOD_START,
  periodEnd: PERIOD_END,
  totalMicros: 20_000_000,
  ...taxOf({ totalMicros: 20_000_000, currency: 'EUR' }, null),
  currency: 'EUR',
  status: 'paid',
  issuedAt: NOW,
  businessName: null,
  vatNumber: null,
};

const chromiumPath = await findChromium();

describe.skipIf(chromiumPath === undefined)('pictures of the sandbox', { timeout: 120_000 }, () => {
  const book = usePictureBook(join(import.meta.dirname, 'pictures'), chromiumPath);
  const offer = createCatalog([PLAN]);
  const business = { businessName: null, vatNumber: null };
  const price = { amountMicros: 20_000_000, interval: 'month' } as const;

  test.each([
    [
      'checkout',
      (locale: Locale) =>
        checkoutPage({
          session: SESSION,
          plan: PLAN,
          business,
          isReverted: false,
          notice: undefined,
          language: languageIn(locale, true),
        }),
    ],
    [
      'portal',
      (locale: Locale) =>
        portalPage({
          portal: {
            id: 'bps_pictures',
            customer: 'cus_pictures',
            returnUrl: 'https://svc.example/plans',
            isChallenged: false,
          },
          subscription: SUBSCRIPTION,
          price: { ...price, currency: 'EUR' },
          clock: NOW,
          offer,
          notice: undefined,
          language: languageIn(locale, true),
        }),
    ],
    ['invoice', (locale: Locale) => invoicePage(INVOICE, languageIn(locale, true))],
  ])('%s', async (name, pageIn) => {
    await book.compare(name, (locale) => String(pageIn(locale).body));
  });
});

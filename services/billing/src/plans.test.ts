import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPlans } from './plans.ts';

const EUROS = { currency: 'EUR', needsStripePrice: false };
const PLAN = `
  - id: basic
    name: Basic
    description: One plan.
    price: { amount_micros: 5000000, currency: EUR, interval: month }
    weekly_limit_micros: 1000
    monthly_limit_micros: 3000
    services: { chat: true, audio_transcription: false }
`;

describe('the plans file', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-plans-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  const load = (text: string) => {
    const path = join(directory, 'plans.yaml');
    writeFileSync(path, text);
    return loadPlans(path, EUROS);
  };

  test('is parsed completely', () => {
    expect(load(`plans:${PLAN}`)).toMatchObject([
      { id: 'basic', weekly_limit_micros: 1000, price: { interval: 'month' } },
    ]);
  });

  test('may contain aliases, as generated YAML does', () => {
    const aliased = PLAN.replace('price: {', 'price: &price {');
    const other = PLAN.replace('id: basic', 'id: other').replace(/price: \{.*\}/, 'price: *price');
    expect(load(`plans:${aliased}${other}`)).toMatchObject([
      { id: 'basic' },
      { id: 'other', price: { currency: 'EUR' } },
    ]);
  });

  test.each([
    ['a missing file', undefined, /^PLANS_FILE: .*none\.yaml.*\n.*cannot be read/],
    ['text that is not YAML', 'plans: [', /invalid/],
    ['an undefined alias', `plans:${PLAN.replace('name: Basic', 'name: *nothing')}`, /invalid/],
    ['a duplicate key', `plans:${PLAN}    name: Again\n`, /unique/i],
    ['no plans', 'plans: []', /plans: /],
    ['an unknown property', `plans:${PLAN}    model: x\n`, /plans\.0: .*model/],
    ['a fraction of a micro', `plans:${PLAN.replace('1000\n', '10.5\n')}`, /plans\.0\.weekly_limit_micros/],
    ['a duplicate plan id', `plans:${PLAN}${PLAN}`, /plan ids must be unique/],
    ['a part of a cent', `plans:${PLAN.replace('5000000', '5001000')}`, /plan basic: .*whole number of 10000 micros/],
    ['another currency', `plans:${PLAN.replace('EUR', 'USD')}`, /plan basic: is priced in USD/],
  ])('is refused for %s, naming the fault', (_fault, text, message) => {
    const act = () => (text === undefined ? loadPlans(join(directory, 'none.yaml'), EUROS) : load(text));
    expect(act).toThrow(message);
  });

  test('must name a Stripe price for each plan if Stripe is the payment provider', () => {
    const path = join(directory, 'plans.yaml');
    writeFileSync(path, `plans:${PLAN}`);
    expect(() => loadPlans(path, { ...EUROS, needsStripePrice: true })).toThrow(
      /plan basic: stripe_price_id is missing/,
    );
  });

  test('must not use the same price for two plans', () => {
    const priced = `${PLAN}    stripe_price_id: price_1\n`;
    expect(() => load(`plans:${priced}${priced.replace('id: basic', 'id: other')}`)).toThrow(
      /price_1 is used by more than one plan/,
    );
  });

  test('is refused with all faults at once', () => {
    const text = `plans:${PLAN.replace('name: Basic', 'name: ""').replace('1000\n', '-1\n')}`;
    expect(() => load(text)).toThrow(/plans\.0\.name.*\n.*plans\.0\.weekly_limit_micros/s);
  });
});

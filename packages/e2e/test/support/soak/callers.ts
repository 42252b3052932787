import { expect } from 'vitest';
import { call } from '../api.ts';
import { connect } from '../partner.ts';
import { type Person, registerApp, signUp, subscribe } from '../people.ts';

/** Callers of a soak. */
export interface SoakCallers {
  /** Access tokens, one per subscriber. */
  readonly tokens: readonly string[];
  /** API keys of one funded wallet. */
  readonly keys: readonly string[];
  /** Accounts whose records and reservations are checked. */
  readonly userIds: readonly string[];
}

/** The larger monthly plan, so that the caps are not reached. */
const PLAN = 'standard';
const TOP_UP_MICROS = 500_000_000;

/** Signs up the subscribers and one holder of several keys. */
export const signUpCallers = async (subscribers: number, keys: number): Promise<SoakCallers> => {
  const app = await registerApp(await signUp('business'));
  const people: Person[] = [];
  const tokens: string[] = [];
  for (let count = 0; count < subscribers; count += 1) {
    const person = await signUp('personal');
    await subscribe(person, PLAN);
    people.push(person);
    tokens.push((await connect(person, app)).accessToken);
  }
  const holder = await signUp('personal');
  await topUp(holder);
  const made: string[] = [];
  for (let count = 0; count < keys; count += 1) {
    const created = await call('POST', '/v1/gateway/keys', { token: holder.token, body: { name: `Key ${count}` } });
    expect(created.status, created.text).toBe(201);
    made.push(String(created.body.key));
  }
  return { tokens, keys: made, userIds: [...people, holder].map(({ userId }) => userId) };
};

const topUp = async ({ token }: Person): Promise<void> => {
  const body = {
    amount_micros: TOP_UP_MICROS,
    success_url: 'https://console.example/ok',
    cancel_url: 'https://console.example/no',
  };
  const started = await call('POST', '/v1/gateway/wallet/top-ups', { token, body });
  const sessionId = String(started.body.session_id);
  const paid = await call('POST', `/sandbox/payments/sessions/${sessionId}/complete`);
  expect(paid.status, paid.text).toBe(200);
  const confirmed = await call('POST', '/v1/subscriptions/checkout/confirm', {
    token,
    body: { session_id: sessionId },
  });
  expect(confirmed.status, confirmed.text).toBe(200);
};

import { expect } from 'vitest';
import { type Answer, call } from '../support/api.ts';
import { signUp } from '../support/people.ts';

/** A user with an API key and a funded wallet. */
export interface Caller {
  readonly userId: string;
  readonly keyId: string;
  /** A console session. */
  readonly token: string;
  readonly complete: (content: string) => Promise<Answer>;
}

/** Signs up, funds a wallet and creates a key. */
export const fundedCaller = async (): Promise<Caller> => {
  const { userId, token } = await signUp('personal');
  const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
  const body = { amount_micros: 100_000_000, ...urls };
  const topUp = await call('POST', '/v1/gateway/wallet/top-ups', { token, body });
  expect(topUp.status, topUp.text).toBe(200);
  const session = String(topUp.body.session_id);
  await call('POST', `/sandbox/payments/sessions/${session}/complete`);
  const paid = await call('POST', '/v1/subscriptions/checkout/confirm', { token, body: { session_id: session } });
  expect(paid.status, paid.text).toBe(200);
  const key = await call('POST', '/v1/gateway/keys', { token, body: { name: 'alerts' } });
  expect(key.status, key.text).toBe(201);
  const messages = (content: string) => [{ role: 'user', content }];
  return {
    userId,
    keyId: String(key.body.id),
    token,
    complete: (content) =>
      call('POST', '/v1/chat/completions', {
        token: String(key.body.key),
        body: { model: 'svc-chat', max_tokens: 16, messages: messages(content) },
      }),
  };
};

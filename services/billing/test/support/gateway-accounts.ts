import { newId } from '@svc/contracts';
import { RETURNS, type TestBilling } from './billing.ts';

/** An account with an API key and a console session. */
export interface GatewayAccount {
  readonly userId: string;
  readonly keyId: string;
  readonly token: string;
}

/** Returns the admission of an API-key request without limits. `more` replaces any field. */
export const keyRequest = <T extends object>(owner: Pick<GatewayAccount, 'userId' | 'keyId'>, more: T) => ({
  kind: 'api_key' as const,
  request_id: newId('req'),
  svc_user_id: owner.userId,
  key_id: owner.keyId,
  hold_micros: 1_000_000,
  requests_per_minute: null,
  monthly_limit_micros: null,
  ...more,
});

/** Creates helpers that act as gateway customers and as the gateway on their wallets. */
export const gatewayAccounts = (billing: TestBilling) => {
  const signIn = async (): Promise<GatewayAccount> => {
    const userId = newId('usr');
    return { userId, keyId: newId('key'), token: await billing.tokens.consoleSession({ userId }) };
  };
  const startTopUp = (token: string, amount_micros: number) =>
    billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json: { amount_micros, ...RETURNS } });
  return {
    signIn,
    startTopUp,
    confirm: (token: string, sessionId: string) =>
      billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id: sessionId } }),
    wallet: async (token: string) => (await billing.call('GET', '/v1/gateway/wallet', { token })).body,
    /** Creates an account with the given amount in its wallet. Default: 10 EUR. */
    fund: async (amountMicros = 10_000_000): Promise<GatewayAccount> => {
      const owner = await signIn();
      const { body } = await startTopUp(owner.token, amountMicros);
      await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
      return owner;
    },
    /** Requests admission of an API-key request. `more` replaces any field. */
    ask: async (owner: Pick<GatewayAccount, 'userId' | 'keyId'>, more: Record<string, unknown> = {}) => {
      const request = keyRequest(owner, more);
      const { body } = await billing.internal('POST', '/internal/admissions', request);
      return { requestId: request.request_id, body };
    },
    /** Lists the entries posted for a request, oldest first: kind, book and amount. */
    postedOf: async (requestId: string) => {
      const entries = await billing
        .db('ledger_postings')
        .join('ledger_entries', 'posting_id', 'id')
        .where({ reference: requestId })
        .orderBy(['posting_id', 'book'])
        .select('kind', 'book', 'amount_micros');
      return entries.map(({ kind, book, amount_micros }) => [kind, book, amount_micros]);
    },
  };
};

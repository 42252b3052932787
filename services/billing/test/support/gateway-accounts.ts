import { randomUUID } from 'node:crypto';
import { type LeaseAnswer, type LeaseAsk, type LeaseDecision, newId, type RequestOutcome } from '@svc/contracts';
import { RETURNS, type TestBilling } from './billing.ts';

/** An account with an API key and a console session. */
export interface GatewayAccount {
  readonly userId: string;
  readonly keyId: string;
  readonly token: string;
}

export type KeyOwner = Pick<GatewayAccount, 'userId' | 'keyId'>;

/** Fields of an API-key request and the limits of its key. */
export interface KeyRequestFields {
  readonly request_id?: string;
  readonly lease_id?: string;
  /** Creator of the key. Default: the account itself. */
  readonly member_id?: string;
  readonly holder_id?: string;
  readonly hold_micros?: number;
  /** Cost before its answer begins. Default: the hold. */
  readonly known_micros?: number;
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly monthly_limit_micros?: number;
  readonly tokens?: number;
  readonly tokens_least?: number;
  readonly micros_least?: number;
  readonly idempotency_key?: string;
}

/** A request on a separate lease. */
export interface AskedRequest {
  readonly requestId: string;
  readonly leaseId: string;
  readonly body: LeaseDecision;
  readonly answer: LeaseAnswer;
}

const NOTHING = { micros: 0, requests: 0, tokens: 0 };
export const HOLDER = randomUUID();

/** Returns the report of a lease of which nothing has come back. */
export const reportOf = (more: Partial<LeaseAsk['report']> = {}): LeaseAsk['report'] => ({
  returned_micros: 0,
  known_micros: 0,
  returned_in_minute: null,
  is_ended: false,
  ...more,
});

/** Returns an ask for one request on a separate lease. `more` replaces any field. */
export const leaseAsk = (owner: KeyOwner, fields: KeyRequestFields = {}, more: Partial<LeaseAsk> = {}): LeaseAsk => {
  const micros = fields.hold_micros ?? 1_000_000;
  return {
    lease_id: fields.lease_id ?? randomUUID(),
    svc_user_id: owner.userId,
    key_id: owner.keyId,
    member_id: fields.member_id ?? null,
    limits: {
      requests_per_minute: fields.requests_per_minute ?? null,
      tokens_per_minute: fields.tokens_per_minute ?? null,
      monthly_limit_micros: fields.monthly_limit_micros ?? null,
    },
    report: reportOf(),
    needs: [
      {
        request_id: fields.request_id ?? newId('req'),
        micros,
        known_micros: fields.known_micros ?? micros,
        tokens: fields.tokens ?? 0,
        tokens_least: fields.tokens_least ?? 0,
        ...(fields.micros_least === undefined ? {} : { micros_least: fields.micros_least }),
        ...(fields.idempotency_key === undefined ? {} : { idempotency_key: fields.idempotency_key }),
      },
    ],
    wanted: NOTHING,
    ...more,
  };
};

/** Creates helpers that act as gateway customers and as the gateway on their wallets. */
export const gatewayAccounts = (billing: TestBilling) => {
  const signIn = async (): Promise<GatewayAccount> => {
    const userId = newId('usr');
    return { userId, keyId: newId('key'), token: await billing.tokens.consoleSession({ userId }) };
  };
  const startTopUp = (token: string, amount_micros: number) =>
    billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json: { amount_micros, ...RETURNS } });
  const asked = new Map<string, LeaseAsk>();
  /** Sends asks as one gateway process. Returns their answers. */
  const send = async (asks: readonly LeaseAsk[], holder_id: string = HOLDER): Promise<LeaseAnswer[]> => {
    const { status, body, text } = await billing.internal('POST', '/internal/leases', { holder_id, asks });
    if (status !== 200) throw new Error(`the leases were refused: ${text}`);
    return body.answers;
  };
  const sendOne = async (ask: LeaseAsk, holderId?: string): Promise<LeaseAnswer> => {
    for (;;) {
      const [answer] = await send([ask], holderId);
      if (answer === undefined) throw new Error('an ask got no answer');
      if (answer.state !== 'busy') return answer;
    }
  };
  /** Reports the end of a request and of its lease: what it did not cost goes back. */
  const endLease = async (requestId: string, costMicros: number): Promise<void> => {
    const ask = asked.get(requestId);
    const hold = ask?.needs[0]?.micros ?? 0;
    if (ask === undefined) return;
    const consumed = Math.min(hold, costMicros);
    const report = reportOf({ returned_micros: hold - consumed, known_micros: consumed, is_ended: true });
    await sendOne({ ...ask, needs: [], report });
  };
  return {
    signIn,
    startTopUp,
    send,
    sendOne,
    endLease,
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
    /** Asks for an API-key request on a separate lease. */
    ask: async (owner: KeyOwner, fields: KeyRequestFields = {}): Promise<AskedRequest> => {
      const ask = leaseAsk(owner, fields);
      const requestId = ask.needs[0]?.request_id ?? '';
      const answer = await sendOne(ask, fields.holder_id);
      const [body] = answer.decisions;
      if (body === undefined) throw new Error(`the lease is ${answer.state}`);
      if (body.verdict === 'granted') asked.set(requestId, ask);
      return { requestId, leaseId: ask.lease_id, body, answer };
    },
    /** Returns the outcome of an asked request, as a usage fact tells it. An uncertain one is estimated at its hold. */
    outcomeOf: (requestId: string, result: RequestOutcome) => {
      const ask = asked.get(requestId);
      const hold = ask?.needs[0]?.micros ?? 0;
      return {
        request_id: requestId,
        svc_user_id: ask?.svc_user_id ?? '',
        key_id: ask?.key_id ?? '',
        lease_id: ask?.lease_id ?? '',
        hold_micros: hold,
        started_at: '2026-10-15T12:00:00.000Z',
        outcome: result.outcome,
        cost_micros: result.outcome === 'settled' ? result.cost_micros : result.outcome === 'uncertain' ? hold : 0,
      };
    },
    /** Reports the outcome of an asked request and the end of its lease. Returns its state. */
    settle: async (requestId: string, result: RequestOutcome, estimateMicros?: number): Promise<string | null> => {
      const ask = asked.get(requestId);
      const hold = ask?.needs[0]?.micros ?? 0;
      const estimate = estimateMicros ?? hold;
      const settlement = {
        request_id: requestId,
        svc_user_id: ask?.svc_user_id ?? newId('usr'),
        result,
        key: {
          key_id: ask?.key_id ?? newId('key'),
          lease_id: ask?.lease_id ?? randomUUID(),
          hold_micros: hold,
          started_at: '2026-10-15T12:00:00.000Z',
          estimate_micros: estimate,
        },
      };
      const { body } = await billing.internal('POST', '/internal/settlements', { settlements: [settlement] });
      await endLease(
        requestId,
        { settled: 'cost_micros' in result ? result.cost_micros : 0, released: 0, uncertain: estimate }[result.outcome],
      );
      return body.results[0].state;
    },
    /** Lists the entries posted for a request, oldest first: kind, book and amount. */
    postedOf: async (requestId: string) => {
      const entries = await billing
        .db('ledger_postings')
        .join('ledger_entries', 'posting_id', 'id')
        .whereRaw("reference = ? OR id = (SELECT posting_id FROM key_requests WHERE id = uuid_of_id('req', ?))", [
          requestId,
          requestId,
        ])
        .orderBy(['posting_id', 'book'])
        .select('kind', 'book', 'amount_micros');
      return entries.map(({ kind, book, amount_micros }) => [kind, book, amount_micros]);
    },
  };
};

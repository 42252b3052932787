import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Admission,
  admissionsRequestSchema,
  type DelegatedAdmissionRequest,
  holderRenewalSchema,
  internalRoutes,
  type KeyReceiptRequest,
  keyReceiptRequestSchema,
  type LeaseAnswer,
  type LeaseAsk,
  type LeaseDecision,
  leasesRequestSchema,
  type RequestOutcome,
  type RequestState,
  type ReservationState,
  settlementsRequestSchema,
} from '@svc/contracts';
import { listen } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';

/** An admission of an app's request, or a need of an API-key request. */
export type StandInAdmission =
  | (DelegatedAdmissionRequest & { readonly kind: 'delegated' })
  | ({
      readonly kind: 'api_key';
      readonly request_id: string;
      readonly holder_id: string;
      readonly hold_micros: number;
      readonly estimate_micros: number;
      readonly tokens: number;
      readonly tokens_least: number;
      readonly micros_least?: number | undefined;
      readonly idempotency_key?: string | undefined;
    } & Pick<LeaseAsk, 'svc_user_id' | 'key_id' | 'limits' | 'lease_id'>);

/** A decision on either, with the rest of a key's limits. */
export interface StandInDecision extends Omit<Admission, 'verdict'> {
  readonly verdict: Admission['verdict'] | LeaseDecision['verdict'];
  readonly requests_left?: number;
  readonly tokens_left?: number;
  readonly minute_ends_in_ms?: number;
  readonly micros?: number;
  readonly available_micros?: number;
}

/** Stand-in for billing's internal routes, by their contract. Keeps the requests that it receives. */
export interface BillingStandIn {
  readonly url: string;
  /** Requests that were asked about, in their order. */
  readonly admissions: StandInAdmission[];
  /** Asks of leases, in their order. */
  readonly asks: LeaseAsk[];
  /** Milliseconds for which leases may be spent in memory. Default: 0, so that the gateway asks for each request. */
  leaseMs: number;
  /** Amounts granted ahead of need by lease. Default: none. */
  ahead: (ask: LeaseAsk) => LeaseAsk['wanted'];
  /** Last reported outcome of each request. */
  readonly outcomes: Map<string, RequestOutcome>;
  readonly states: Map<string, ReservationState>;
  /** Lease renewals, and below the holders that ended their lease. */
  readonly renewals: { readonly holderId: string; readonly internalUrl: string }[];
  readonly endedHolders: string[];
  /** Receipts that were asked for. */
  readonly receipts: KeyReceiptRequest[];
  /** Final states of uncertain requests, known only to billing. */
  readonly ended: Map<string, RequestState>;
  /** Decides the next admissions. Default: admits all. */
  decide: (request: StandInAdmission) => StandInDecision;
  /** Delegated requests that are left undecided, as if their accounts were locked, before others are decided. */
  undecidedCount: number;
  /** Decides on the probe of a key before a large body is read. Default: `admitted`. */
  standing: (userId: string) => StandInDecision;
  /** Spending of keys this month. */
  readonly spent: Map<string, number>;
  services: { chat: boolean; audio_transcription: boolean };
  /** If set, every request gets this status; 0 breaks the connection. */
  outage: number | undefined;
  /** Delays each decision until the returned promise resolves. */
  hold: (() => Promise<void>) | undefined;
  /** Delays each settlement likewise. */
  holdSettlement: (() => Promise<void>) | undefined;
  /** Number of delayed decisions. */
  waiting: number;
  stop: () => Promise<void>;
}

export const TOKEN = internalCredential('inference-gateway');

export const startBilling = async (): Promise<BillingStandIn> => {
  const listener = await listen((req, res) => void answer(billing, req, res), { host: '127.0.0.1', port: 0 });
  const billing: BillingStandIn = {
    url: listener.url,
    admissions: [],
    asks: [],
    leaseMs: 0,
    ahead: () => ({ micros: 0, requests: 0, tokens: 0 }),
    outcomes: new Map(),
    states: new Map(),
    renewals: [],
    endedHolders: [],
    receipts: [],
    ended: new Map(),
    decide: () => ({ verdict: 'admitted' }),
    undecidedCount: 0,
    standing: () => ({ verdict: 'admitted' }),
    spent: new Map(),
    services: { chat: true, audio_transcription: true },
    outage: undefined,
    hold: undefined,
    holdSettlement: undefined,
    waiting: 0,
    stop: async () => {
      await listener.drain(0);
    },
  };
  return billing;
};

const answer = async (billing: BillingStandIn, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  if (billing.outage === 0) {
    res.destroy();
    return;
  }
  if (billing.outage !== undefined) {
    const code = billing.outage === 404 ? 'not_found' : 'internal_error';
    return send(res, billing.outage, { detail: { code, message: '' } });
  }
  if (req.headers.authorization !== `Bearer ${TOKEN}`) return send(res, 401, {});
  const text = Buffer.concat(chunks).toString();
  const path = req.url ?? '';
  if (path === internalRoutes.admitRequests.path) {
    const { requests } = admissionsRequestSchema.parse(JSON.parse(text));
    billing.waiting += requests.length;
    await billing.hold?.();
    billing.waiting -= requests.length;
    return send(res, 200, { decisions: requests.map((request) => admitDelegated(billing, request)) });
  }
  if (path === internalRoutes.askLeases.path) {
    const { holder_id, asks } = leasesRequestSchema.parse(JSON.parse(text));
    const count = asks.flatMap(({ needs }) => needs).length;
    billing.waiting += count;
    if (count > 0) await billing.hold?.();
    billing.waiting -= count;
    return send(res, 200, { answers: asks.map((ask) => answerAsk(billing, holder_id, ask)) });
  }
  if (path === '/internal/settlements') {
    await billing.holdSettlement?.();
    return send(res, 200, settle(billing, settlementsRequestSchema.parse(JSON.parse(text))));
  }
  if (path === internalRoutes.readRequestStates.path) return send(res, 200, statesOf(billing, JSON.parse(text)));
  if (path === internalRoutes.signKeyReceipt.path) {
    billing.receipts.push(keyReceiptRequestSchema.parse(JSON.parse(text)));
    return send(res, 200, { receipt: 'signed' });
  }
  const holderId = /^\/internal\/holders\/([\w-]+)$/.exec(path)?.[1];
  if (holderId !== undefined && req.method === 'DELETE') {
    billing.endedHolders.push(holderId);
    return void res.writeHead(204).end();
  }
  if (holderId !== undefined) {
    billing.renewals.push({ holderId, internalUrl: holderRenewalSchema.parse(JSON.parse(text)).internal_url });
    return send(res, 200, { lease_seconds: 10 });
  }
  const spender = /^\/internal\/accounts\/([^/]+)\/key-spending$/.exec(path)?.[1];
  if (spender !== undefined) {
    const { key_ids } = JSON.parse(text);
    return send(res, 200, {
      spent_this_month_micros: key_ids.map((id: string) => billing.spent.get(id) ?? 0),
      wallet: { available_micros: 1_000_000, currency: 'EUR' },
    });
  }
  if (/^\/internal\/accounts\/[^/]+\/entitlements$/.test(path)) return send(res, 200, { services: billing.services });
  return send(res, 404, { detail: { code: 'not_found', message: '' } });
};

const admitDelegated = (billing: BillingStandIn, request: DelegatedAdmissionRequest): StandInDecision | null => {
  if (billing.undecidedCount === 0) return admit(billing, { kind: 'delegated', ...request });
  billing.undecidedCount -= 1;
  return null;
};

const admit = (billing: BillingStandIn, request: StandInAdmission): StandInDecision => {
  billing.admissions.push(request);
  const decision = billing.decide(request);
  if (isGranted(decision)) billing.states.set(request.request_id, 'reserved');
  return decision;
};

const isGranted = ({ verdict }: StandInDecision): boolean => verdict === 'admitted' || verdict === 'granted';

/** Amounts granted so far, by lease, and by lease and minute. */
const granted = new Map<string, number>();
const minutes = new Map<string, { requests: number; tokens: number }>();

const answerAsk = (billing: BillingStandIn, holder_id: string, ask: LeaseAsk): LeaseAnswer => {
  billing.asks.push(ask);
  let micros = granted.get(ask.lease_id) ?? 0;
  const grantedNow = { requests: 0, tokens: 0 };
  const { svc_user_id, key_id, limits, lease_id } = ask;
  const decided = ask.needs.map(({ micros: hold_micros, known_micros: estimate_micros, is_probe, ...need }) => {
    if (is_probe === true) return billing.standing(svc_user_id);
    const owner = { svc_user_id, key_id, limits, lease_id, holder_id };
    const decision = admit(billing, { kind: 'api_key', hold_micros, estimate_micros, ...need, ...owner });
    if (isGranted(decision)) {
      micros += decision.micros ?? hold_micros;
      grantedNow.requests += 1;
      grantedNow.tokens += need.tokens;
    }
    return decision;
  });
  const ahead = billing.ahead(ask);
  micros += ahead.micros;
  grantedNow.requests += ahead.requests;
  grantedNow.tokens += ahead.tokens;
  granted.set(ask.lease_id, micros);
  const last = decided.at(-1);
  // Each end of a minute is another minute.
  const minute = last?.minute_ends_in_ms ?? 0;
  const ofMinute = minutes.get(`${ask.lease_id} ${minute}`) ?? { requests: 0, tokens: 0 };
  minutes.set(`${ask.lease_id} ${minute}`, ofMinute);
  ofMinute.requests += grantedNow.requests;
  ofMinute.tokens += grantedNow.tokens;
  return {
    state: ask.report.is_ended ? 'ended' : 'held',
    granted_micros: micros,
    granted_in_minute: { id: minute, ...ofMinute },
    minute_ends_in_ms: last?.minute_ends_in_ms ?? 60_000,
    month_ends_in_ms: billing.leaseMs,
    requests_left: limits.requests_per_minute === null ? null : (last?.requests_left ?? 0),
    tokens_left: limits.tokens_per_minute === null ? null : (last?.tokens_left ?? 0),
    decisions: decided.map((decision) => ({
      // A test's decision names a verdict of its kind of request.
      verdict: (isGranted(decision) ? 'granted' : decision.verdict) as LeaseDecision['verdict'],
      ...(decision.micros === undefined ? {} : { micros: decision.micros }),
      ...(decision.available_micros === undefined ? {} : { available_micros: decision.available_micros }),
      ...(decision.resets_at === undefined ? {} : { resets_at: decision.resets_at }),
      ...(decision.duplicate_of === undefined ? {} : { duplicate_of: decision.duplicate_of }),
    })),
  };
};

const settle = (
  billing: BillingStandIn,
  { settlements }: ReturnType<typeof settlementsRequestSchema.parse>,
): object => {
  const results = settlements.map(({ request_id, result }) => {
    if (!billing.states.has(request_id)) return { request_id, state: null };
    billing.outcomes.set(request_id, result);
    billing.states.set(request_id, result.outcome);
    return { request_id, state: result.outcome };
  });
  return { results };
};

const statesOf = (billing: BillingStandIn, { request_ids }: { request_ids: string[] }): object => ({
  states: request_ids.map((requestId) => {
    const state = billing.states.get(requestId);
    return billing.ended.get(requestId) ?? (state === undefined ? null : { state, cost_micros: null });
  }),
});

const send = (res: ServerResponse, status: number, body: object): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Admission,
  type AdmissionRequest,
  admissionsRequestSchema,
  holderRenewalSchema,
  internalRoutes,
  type RequestOutcome,
  type RequestState,
  type ReservationState,
  settlementsRequestSchema,
} from '@svc/contracts';
import { listen } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';

/** Stand-in for billing's internal routes, by their contract. Keeps the requests that it receives. */
export interface BillingStandIn {
  readonly url: string;
  readonly admissions: AdmissionRequest[];
  /** Last reported outcome of each request. */
  readonly outcomes: Map<string, RequestOutcome>;
  readonly states: Map<string, ReservationState>;
  /** Lease renewals, and below the holders that ended their lease. */
  readonly renewals: { readonly holderId: string; readonly estimates: Readonly<Record<string, number>> }[];
  readonly endedHolders: string[];
  /** Final states of uncertain requests, known only to billing. */
  readonly ended: Map<string, RequestState>;
  /** Decides the next admissions. Default: admits all. */
  decide: (request: AdmissionRequest) => Admission;
  /** Decides the standing of a key before its body is read. Default: `admitted`. */
  standing: (userId: string) => Admission;
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
    outcomes: new Map(),
    states: new Map(),
    renewals: [],
    endedHolders: [],
    ended: new Map(),
    decide: () => ({ verdict: 'admitted' }),
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
    return send(res, 200, { decisions: requests.map((request) => admit(billing, request)) });
  }
  if (path === '/internal/settlements') {
    await billing.holdSettlement?.();
    return send(res, 200, settle(billing, settlementsRequestSchema.parse(JSON.parse(text))));
  }
  if (path === internalRoutes.readRequestStates.path) return send(res, 200, statesOf(billing, JSON.parse(text)));
  const holderId = /^\/internal\/holders\/([\w-]+)$/.exec(path)?.[1];
  if (holderId !== undefined && req.method === 'DELETE') {
    billing.endedHolders.push(holderId);
    return void res.writeHead(204).end();
  }
  if (holderId !== undefined) {
    const { in_flight } = holderRenewalSchema.parse(JSON.parse(text));
    const estimates = in_flight.map(({ request_id, estimate_micros }) => [request_id, estimate_micros]);
    billing.renewals.push({ holderId, estimates: Object.fromEntries(estimates) });
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
  const account = /^\/internal\/accounts\/([^/]+)\/key-standing$/.exec(path)?.[1];
  if (account !== undefined) return send(res, 200, billing.standing(account));
  if (/^\/internal\/accounts\/[^/]+\/entitlements$/.test(path)) return send(res, 200, { services: billing.services });
  return send(res, 404, {});
};

const admit = (billing: BillingStandIn, request: AdmissionRequest): Admission => {
  billing.admissions.push(request);
  const decision = billing.decide(request);
  if (decision.verdict === 'admitted') billing.states.set(request.request_id, 'reserved');
  return decision;
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

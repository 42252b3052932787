import { setTimeout as wait } from 'node:timers/promises';
import { internalRoutes, type KeyReceiptRequest, type ReceiptClaims, routes, serviceOperations } from '@svc/contracts';
import { AppError, type Binding, batchCalls, bind, type DerivedKeys, keySetReply, signClaims } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type KeyRequestRecord, listKeyRequestRecords, listKeyRequestStates } from '../leases/index.ts';
import { listForReceipts, type SettledReservation } from '../reservations/index.ts';

interface ReceiptRoutesDeps {
  readonly receipts: ReceiptSigning;
  readonly receiptKeys: DerivedKeys;
  /** Stops publishing the keys of former secrets. Returns their number. */
  readonly withdrawKeys: () => Promise<number>;
}

/** Binds the public routes of receipts. */
export const receiptRoutes = ({ receipts, receiptKeys }: Omit<ReceiptRoutesDeps, 'withdrawKeys'>): Binding[] => [
  bind(routes.getRequestReceipt, async ({ caller, params }) => ({
    status: 200,
    body: await receipts.signDelegated(params.request_id, caller),
  })),
  bind(routes.getReceiptJwks, async () => keySetReply(receiptKeys)),
];

/** Binds the internal routes of receipts. */
export const receiptInternalRoutes = ({
  receipts,
  withdrawKeys,
}: Omit<ReceiptRoutesDeps, 'receiptKeys'>): Binding[] => [
  bind(internalRoutes.signKeyReceipt, async ({ body }) => ({ status: 200, body: await receipts.signKey(body) })),
  bind(serviceOperations.withdrawReceiptKeys, async () => ({ status: 200, body: { withdrawn: await withdrawKeys() } })),
];

interface SignReceiptDeps {
  readonly database: Knex;
  readonly currency: string;
  readonly issuer: string;
  readonly receiptKeys: DerivedKeys;
}

/** A request of an app or key as shown on its receipt. */
type ReceiptRequest =
  | ({ readonly kind: 'delegated' } & SettledReservation)
  | ({ readonly kind: 'api_key'; readonly details: KeyReceiptRequest['details'] } & KeyRequestRecord);

interface ReceiptSigning {
  /** Signs the receipt of a delegated request of this user and app. */
  readonly signDelegated: (
    requestId: string,
    owner: { readonly userId: string; readonly clientId: string },
  ) => Promise<{ receipt: string }>;
  /** Signs the receipt of an API-key request of this account, and of this key if one is given. */
  readonly signKey: (request: KeyReceiptRequest) => Promise<{ receipt: string }>;
}

/** A request is settled by call shortly before the fact with its details arrives. */
const DETAILS_WAIT_MS = 100;
const DETAILS_WAITS_MAX = 30;
/** Callers that wait for details at once. More of them get their answer immediately. */
const WAITING_MAX = 500;
const READ_MAX = 200;
const RETRY_AFTER_SECONDS = 1;

/**
 * Creates the operations that sign receipts. They throw `not_found` if the caller may not see the request, and `not_settled`
 * while its cost or its details are missing. Repeated calls sign the same claims. Callers that wait share their reads.
 */
export const createReceiptSigning = (deps: SignReceiptDeps): ReceiptSigning => {
  const limits = { callsMax: READ_MAX, waitingMax: 10 * WAITING_MAX };
  const findDelegated = batchCalls({ ...limits, run: (ids: readonly string[]) => findAll(ids, listForReceipts, deps) });
  const findKey = batchCalls({ ...limits, run: (ids: readonly string[]) => findAll(ids, listKeyRequestRecords, deps) });
  const waitFor = createWait();
  const sign = (request: ReceiptRequest): { receipt: string } => ({
    receipt: signClaims(deps.receiptKeys.active(), toClaims(deps, request)),
  });
  return {
    signDelegated: async (requestId, owner) => {
      const request = await waitFor(async () => {
        const found = await findDelegated(requestId);
        if (found?.userId !== owner.userId || found.clientId !== owner.clientId) throw new AppError('not_found');
        if (found.state !== 'settled' && found.state !== 'released') throw notSettled();
        return found.settledBy !== 'usage' || found.details !== null ? found : undefined;
      });
      return sign({ kind: 'delegated', ...request });
    },
    signKey: async ({ request_id, svc_user_id, key_id, details }) => {
      const request = await waitFor(async () => {
        const found = await findKey(request_id);
        if (found?.userId === svc_user_id && found.keyId === key_id) return found;
        if (found !== undefined) throw new AppError('not_found');
        const [state] = await listKeyRequestStates(deps.database, svc_user_id, [request_id]);
        if (state?.state === 'uncertain') throw notSettled();
        return undefined;
      });
      return sign({ kind: 'api_key', details, ...request });
    },
  };
};

/** Creates a function that repeats a search until it finds something. Throws `not_settled` after a while. */
const createWait = () => {
  let waiting = 0;
  return async <T>(find: () => Promise<T | undefined>): Promise<T> => {
    const found = await find();
    if (found !== undefined) return found;
    if (waiting >= WAITING_MAX) throw notSettled();
    waiting += 1;
    try {
      for (let waits = 0; waits < DETAILS_WAITS_MAX; waits += 1) {
        await wait(DETAILS_WAIT_MS);
        const later = await find();
        if (later !== undefined) return later;
      }
    } finally {
      waiting -= 1;
    }
    throw notSettled();
  };
};

const findAll = async <T extends { readonly requestId: string }>(
  requestIds: readonly string[],
  list: (database: Knex, requestIds: readonly string[]) => Promise<readonly T[]>,
  { database }: SignReceiptDeps,
): Promise<(T | undefined)[]> => {
  const found = await list(database, [...new Set(requestIds)]);
  const byId = new Map(found.map((request) => [request.requestId, request]));
  return requestIds.map((requestId) => byId.get(requestId));
};

const notSettled = (): AppError =>
  new AppError('not_settled', undefined, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });

const toClaims = ({ issuer, currency }: SignReceiptDeps, request: ReceiptRequest): ReceiptClaims => {
  const { endedAt } = request;
  if (endedAt === null) throw new Error('a settled request has no end');
  const isReleased = request.state === 'released';
  const { service, inputTokens, outputTokens, cachedInputTokens, audioMs } = countsOf(request);
  const common = {
    iss: issuer,
    iat: Math.floor(endedAt.getTime() / 1000),
    request_id: request.requestId,
    sub: request.userId,
    service,
    outcome: outcomeOf(request),
    cost_micros: isReleased ? 0 : (request.costMicros ?? 0),
    currency,
    paid_by: request.kind === 'delegated' ? request.paidBy : ('wallet' as const),
    input_tokens: isReleased ? 0 : inputTokens,
    output_tokens: isReleased ? 0 : outputTokens,
    cached_input_tokens: isReleased || (cachedInputTokens === null && inputTokens !== null) ? 0 : cachedInputTokens,
    ...(audioMs === null ? {} : { audio_seconds: audioMs / 1000 }),
    created_at: request.kind === 'delegated' ? request.createdAt.toISOString() : request.details.started_at,
    settled_at: endedAt.toISOString(),
  };
  return request.kind === 'delegated'
    ? { ...common, client_id: request.clientId }
    : { ...common, key_id: request.keyId, ...servedBy(request.details) };
};

const servedBy = ({
  provider,
  model,
  data_zone,
  certification,
  upstream_request_id,
}: KeyReceiptRequest['details']) => ({
  provider,
  model,
  data_zone,
  certification,
  upstream_request_id,
});

const countsOf = (request: ReceiptRequest) => ({
  service: request.kind === 'delegated' ? request.service : request.details.service,
  inputTokens: request.details?.input_tokens ?? null,
  outputTokens: request.details?.output_tokens ?? null,
  cachedInputTokens: request.details?.cached_input_tokens ?? null,
  audioMs: request.kind === 'delegated' ? (request.details?.audio_ms ?? null) : null,
});

const outcomeOf = ({ state, settledBy }: ReceiptRequest): ReceiptClaims['outcome'] => {
  if (state === 'released') return 'released';
  return settledBy === 'estimate' ? 'estimated' : 'settled';
};

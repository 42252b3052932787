import type { RequestState, requestUsageSchema } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { listKeyRequestStates } from '../leases/index.ts';
import { findRequestByOwner, type RequestRecord } from '../reservations/index.ts';

/**
 * Reads the state and cost of a request. The cost is null while it is unknown, and 0 if the request was released.
 * Throws `not_found` for a request of another user or app.
 */
export const readRequestUsage = async (
  database: Knex,
  requestId: string,
  owner: { userId: string; clientId: string },
): Promise<z.input<typeof requestUsageSchema>> => {
  const request = await findRequestByOwner(database, requestId, owner);
  if (request === undefined) throw new AppError('not_found');
  const { state, costMicros, paidBy, createdAt, endedAt } = request;
  return {
    request_id: requestId,
    ...showState({ state, costMicros }),
    paid_by: paidBy,
    created_at: createdAt.toISOString(),
    settled_at: state === 'settled' ? (endedAt?.toISOString() ?? null) : null,
  };
};

/** Reads the states of an account's API-key requests, in the given order; null for those that have not ended. */
export const readRequestStates = async (
  database: Knex,
  userId: string,
  requestIds: readonly string[],
): Promise<(RequestState | null)[]> => {
  const requests = await listKeyRequestStates(database, userId, requestIds);
  const found = new Map(requests.map((request) => [request.requestId, showState(request)]));
  return requestIds.map((requestId) => found.get(requestId) ?? null);
};

const showState = ({ state, costMicros }: Pick<RequestRecord, 'state' | 'costMicros'>): RequestState => ({
  state,
  cost_micros: state === 'released' ? 0 : costMicros,
});

import type { RequestState, requestUsageSchema } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { z } from 'zod';
import { findRequestByOwner, listRequestStates, type RequestRecord } from '../reservations/index.ts';

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
  const { state, costMicros, createdAt, endedAt } = request;
  return {
    request_id: requestId,
    ...showState({ state, costMicros }),
    created_at: createdAt.toISOString(),
    settled_at: state === 'settled' ? (endedAt?.toISOString() ?? null) : null,
  };
};

/** Reads the states of requests of any kind, in the given order; null for requests that were never admitted. */
export const readRequestStates = async (
  database: Knex,
  requestIds: readonly string[],
): Promise<(RequestState | null)[]> =>
  (await listRequestStates(database, requestIds)).map((request) => (request === null ? null : showState(request)));

const showState = ({ state, costMicros }: Pick<RequestRecord, 'state' | 'costMicros'>): RequestState => ({
  state,
  cost_micros: state === 'released' ? 0 : costMicros,
});

import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { batchByOwner } from './batch-by-owner.ts';
import type { ReservationMeters, SettlementSource } from './meters.ts';
import type { SettledRequest, Settlement } from './reservation.ts';
import { type SettlementInput, settleReservations } from './settlement-queries.ts';

export interface SettlementDeps {
  /** Pass a transaction to make the settlement part of it. */
  readonly database: Knex;
  readonly currency: string;
  readonly logger: Logger;
  readonly meters: ReservationMeters;
}

/** Ends reservations as reported, each exactly once. Repeated and late reports change nothing. */
export const settleRequests = async (
  deps: SettlementDeps,
  settlements: readonly Settlement[],
  source: SettlementSource,
): Promise<SettledRequest[]> => applyOutcomes(deps, settlements.map(toInput), source);

/**
 * Creates the operation that settles by call, like `settleRequests`. Batches calls that report a single request, as
 * gateways do at the end of every request.
 */
export const createSettlement = (
  deps: SettlementDeps,
): ((settlements: readonly Settlement[]) => Promise<readonly SettledRequest[]>) => {
  const settleOne = batchByOwner<Settlement, SettledRequest>(
    (settlements) => settleRequests(deps, settlements, 'call'),
    ({ request_id }) => request_id,
  );
  return async (settlements) => {
    const [only, ...others] = settlements;
    if (only === undefined || others.length > 0) return settleRequests(deps, settlements, 'call');
    return [await settleOne(only)];
  };
};

/** Settles like `settleRequests`, but also accepts `estimate`, which only the sweep and the operator may report. */
export const applyOutcomes = async (
  deps: SettlementDeps,
  inputs: readonly SettlementInput[],
  source: SettlementSource,
): Promise<SettledRequest[]> => {
  const results = await settleReservations(deps.database, inputs, deps.currency);
  for (const result of results) {
    deps.meters.settlement(result.effect, source);
    deps.meters.writtenOff(result.writtenOffMicros);
    report(deps.logger, result, source);
  }
  return results;
};

const toInput = ({ request_id, result, tokens }: Settlement): SettlementInput => ({
  requestId: request_id,
  outcome: result.outcome,
  costMicros: result.outcome === 'settled' ? result.cost_micros : null,
  tokens: tokens ?? null,
});

const report = (logger: Logger, result: SettledRequest, source: SettlementSource): void => {
  const fields = { request_id: result.requestId, state: result.state, component: source };
  if (result.effect === 'conflict') logger.error(fields, 'a request has two different outcomes; the first one stands');
  if (result.effect === 'unknown') logger.error(fields, 'a request with a cost was never admitted');
  if (result.effect === 'ignored') logger.debug(fields, 'a request without a cost was never admitted');
  if (result.overHoldMicros > 0) {
    logger.warn({ ...fields, amount_micros: result.overHoldMicros }, 'a request cost more than its hold');
  }
  if (result.writtenOffMicros > 0) {
    logger.error(
      { ...fields, amount_micros: result.writtenOffMicros },
      'neither wallet nor key limit covered the cost of a request; the rest is written off',
    );
  }
};

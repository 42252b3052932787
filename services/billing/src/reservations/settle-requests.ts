import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { groupCalls } from './group-calls.ts';
import type { ReservationMeters, SettlementSource } from './meters.ts';
import { giveUpRequests, type SettlementInput, settleMany } from './queries.ts';
import type { SettledRequest, Settlement } from './reservation.ts';

/** What settlement needs. */
export interface SettlementDeps {
  /** A transaction, where the settlement is part of one. */
  readonly database: Knex;
  readonly currency: string;
  readonly logger: Logger;
  readonly meters: ReservationMeters;
}

/** Ends reservations as told, each exactly once; what was told before, or comes too late, changes nothing. */
export const settleRequests = async (
  deps: SettlementDeps,
  settlements: readonly Settlement[],
  source: SettlementSource,
): Promise<SettledRequest[]> => applyOutcomes(deps, settlements.map(toInput), { source });

/**
 * Creates the operation behind calls: as `settleRequests`, with calls that tell of one request each, as gateways do at the end of
 * every request, made together.
 */
export const createSettlement = (
  deps: SettlementDeps,
): ((settlements: readonly Settlement[]) => Promise<readonly SettledRequest[]>) => {
  const settleOne = groupCalls<Settlement, SettledRequest>({
    together: (settlements) => applyOutcomes(deps, settlements.map(toInput), { source: 'call', isTogether: true }),
    alone: async (settlement) => {
      const [settled] = await settleRequests(deps, [settlement], 'call');
      if (settled === undefined) throw new Error('a settlement was not answered');
      return settled;
    },
    keyOf: ({ request_id }) => request_id,
  });
  return async (settlements) => {
    const [only, ...others] = settlements;
    if (only === undefined || others.length > 0) return settleRequests(deps, settlements, 'call');
    return [await settleOne(only)];
  };
};

/** As `settleRequests`, with the outcome that only the sweep may tell. */
export const applyOutcomes = async (
  deps: SettlementDeps,
  inputs: readonly SettlementInput[],
  { source, isTogether = false }: { source: SettlementSource; isTogether?: boolean },
): Promise<SettledRequest[]> => {
  const told = await settleMany(deps.database, inputs, { currency: deps.currency, isTogether });
  const results = await giveUpUnadmitted(deps, inputs, told);
  for (const result of results) {
    deps.meters.settlement(result.effect, source);
    report(deps.logger, result, source);
  }
  return results;
};

/**
 * What has no cost is no fault where the request was never admitted. A release of such a one means that the gateway has given up an
 * admission to which it got no answer: should it still come, it must find the id in use; one that came meanwhile is released here.
 */
const giveUpUnadmitted = async (
  { database, currency }: SettlementDeps,
  inputs: readonly SettlementInput[],
  results: readonly SettledRequest[],
): Promise<SettledRequest[]> => {
  const isIgnored = ({ effect }: SettledRequest, place: number) =>
    effect === 'unknown' && inputs[place]?.outcome !== 'settled';
  const given = results.filter((result, place) => isIgnored(result, place) && inputs[place]?.outcome === 'released');
  const ids = given.map(({ requestId }) => requestId);
  const admitted = ids.length === 0 ? [] : await giveUpRequests(database, ids);
  const late = admitted.map((requestId) => ({ requestId, outcome: 'released' as const, costMicros: null }));
  const ended = late.length === 0 ? [] : await settleMany(database, late, { currency });
  const byId = new Map(ended.map((result) => [result.requestId, result]));
  return results.map((result, place) =>
    isIgnored(result, place) ? (byId.get(result.requestId) ?? { ...result, effect: 'ignored' }) : result,
  );
};

const toInput = ({ request_id, result }: Settlement): SettlementInput => ({
  requestId: request_id,
  outcome: result.outcome,
  costMicros: result.outcome === 'settled' ? result.cost_micros : null,
});

const report = (logger: Logger, result: SettledRequest, source: SettlementSource): void => {
  const fields = { request_id: result.requestId, state: result.state, component: source };
  if (result.effect === 'conflict')
    logger.error(fields, 'a request was told to have ended in two ways; the first stands');
  if (result.effect === 'unknown') logger.error(fields, 'an outcome was told of a request that was never admitted');
  if (result.effect === 'ignored') logger.debug(fields, 'a request without a cost was never admitted');
  if (result.overHoldMicros > 0) {
    logger.warn({ ...fields, amount_micros: result.overHoldMicros }, 'a request cost more than was held for it');
  }
};

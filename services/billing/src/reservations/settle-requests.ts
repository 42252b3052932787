import type { SettlementsRequest } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type KeyOutcome, outcomeOfCall, type SettledKeyRequest, settleKeyRequests } from '../leases/index.ts';
import { batchByOwner } from './batch-by-owner.ts';
import type { ReservationMeters, SettlementSource } from './meters.ts';
import type { SettledRequest } from './reservation.ts';
import { type SettlementInput, settleReservations } from './settlement-queries.ts';

export interface SettlementDeps {
  readonly database: Knex;
  readonly currency: string;
  readonly logger: Logger;
  readonly meters: ReservationMeters;
}

type Settlement = SettlementsRequest['settlements'][number];

/** Creates the operation that settles by call. Batches calls that report a single request, as gateways do for apps. */
export const createSettlement = (
  deps: SettlementDeps,
): ((settlements: readonly Settlement[]) => Promise<readonly Pick<SettledRequest, 'requestId' | 'state'>[]>) => {
  const settleOne = batchByOwner<SettlementInput, SettledRequest>(
    (inputs) => applyOutcomes(deps, inputs, 'call'),
    ({ requestId }) => requestId,
  );
  return async (settlements) => {
    const [only, ...others] = settlements;
    if (only !== undefined && others.length === 0 && only.key === undefined) return [await settleOne(toInput(only))];
    const delegated = settlements.filter(({ key }) => key === undefined).map(toInput);
    const keyed = settlements.flatMap((settlement) => outcomeOfCall(settlement) ?? []);
    const ofApps = delegated.length === 0 ? [] : [...(await applyOutcomes(deps, delegated, 'call'))];
    const ofKeys = [...(await applyKeyOutcomes(deps, keyed, 'call'))];
    return settlements.flatMap(({ key }) => (key === undefined ? ofApps : ofKeys).shift() ?? []);
  };
};

const toInput = ({ request_id, result }: Settlement): SettlementInput => ({
  requestId: request_id,
  outcome: result.outcome,
  costMicros: result.outcome === 'settled' ? result.cost_micros : null,
});

/**
 * Ends delegated requests as reported, each exactly once. Repeated and late reports change nothing. Only the sweep and the
 * operator may report `estimate`. To make the settlement part of a transaction, pass it as the database, with what
 * `giveUpUnadmitted` returned before it began.
 */
export const applyOutcomes = async (
  deps: SettlementDeps,
  inputs: readonly SettlementInput[],
  source: SettlementSource,
  givenUp?: readonly string[],
): Promise<SettledRequest[]> => {
  const results = await settleReservations(deps.database, inputs, givenUp);
  for (const result of results) {
    note(deps, result, source);
    noteWriteOff(deps, result, source);
  }
  return results;
};

/** Ends API-key requests as reported, likewise. */
export const applyKeyOutcomes = async (
  deps: SettlementDeps,
  outcomes: readonly KeyOutcome[],
  source: SettlementSource,
): Promise<readonly SettledKeyRequest[]> => {
  const results = await settleKeyRequests(deps.database, outcomes, deps.currency);
  for (const result of results) {
    note(deps, result, source);
    noteOverHold(deps, result, source);
    noteWriteOff(deps, result, source);
  }
  return results;
};

const note = ({ meters, logger }: SettlementDeps, result: SettledRequest, source: SettlementSource): void => {
  meters.settlement(result.effect, source);
  const fields = { request_id: result.requestId, state: result.state, component: source };
  if (result.effect === 'conflict') logger.error(fields, 'a request has two different outcomes; the first one stands');
  if (result.effect === 'unknown') logger.error(fields, 'a request with a cost was never admitted');
  if (result.effect === 'ignored') logger.debug(fields, 'a request without a cost was never admitted');
};

const noteOverHold = (
  { logger }: SettlementDeps,
  { requestId, state, overHoldMicros }: SettledKeyRequest,
  source: SettlementSource,
): void => {
  if (overHoldMicros === 0) return;
  const fields = { request_id: requestId, state, component: source, amount_micros: overHoldMicros };
  logger.warn(fields, 'a request cost more than its hold');
};

const noteWriteOff = (
  { meters, logger }: SettlementDeps,
  { requestId, state, writtenOffMicros }: SettledRequest,
  source: SettlementSource,
): void => {
  meters.writtenOff(writtenOffMicros);
  if (writtenOffMicros === 0) return;
  const fields = { request_id: requestId, state, component: source, amount_micros: writtenOffMicros };
  logger.error(fields, 'neither wallet nor limits covered the cost of a request; the rest is written off');
};

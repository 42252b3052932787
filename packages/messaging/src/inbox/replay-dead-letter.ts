import type { DeadLetterOutcome } from '@svc/contracts';
import type { Knex } from 'knex';
import {
  findDeadLetter,
  findDeadLetterForUpdate,
  type StoredDeadLetter,
  updateDeadLetterResolved,
} from './dead-letter-queries.ts';
import { prepareEffect } from './handle-messages.ts';
import type { HandlerDeps } from './handler.ts';
import { classifyFailure, type Delivery, parseFact } from './handler.ts';
import { type EpochVersion, findVersion, insertInbox, isEarlier } from './inbox-tables.ts';

/**
 * Handles a parked message again. Effect, inbox row and resolution commit together, so two replays have one effect. A message
 * that fails again stays parked. A fact of an ordered consumer has no effect if a newer version was handled since.
 */
export const replayDeadLetter = async (deps: HandlerDeps, id: string): Promise<DeadLetterOutcome> => {
  try {
    const known = await findDeadLetter(deps.database, id);
    if (known === undefined || known.resolved_at !== null) return resolution(id, 'already_resolved');
    const delivery = deliveryOf(known);
    if (delivery === undefined) return { id, outcome: 'failed', error_code: 'messaging.invalid_message' };
    const effect = await prepareEffect(deps, [delivery]);
    return await deps.database.transaction(async (trx) => {
      const letter = await findDeadLetterForUpdate(trx, id);
      if (letter === undefined || letter.resolved_at !== null) return resolution(id, 'already_resolved');
      const { event } = delivery;
      const fresh = await insertInbox(trx, deps.consumer, [event.id]);
      const outcome = fresh.size === 0 ? 'duplicate' : (await isStale(trx, deps, event)) ? 'stale' : 'handled';
      if (outcome === 'handled') await effect(trx, [delivery]);
      await updateDeadLetterResolved(trx, id);
      return resolution(id, outcome);
    });
  } catch (error) {
    const { code } = classifyFailure(error);
    deps.messaging.logger.error({ consumer: deps.consumer, code, err: error }, 'a dead letter failed again');
    return { id, outcome: 'failed', error_code: code };
  }
};

/** Returns undefined for a payload that breaks its contract. */
const deliveryOf = ({ subject, payload, stream, stream_seq, deliveries }: StoredDeadLetter): Delivery | undefined => {
  const event = parseFact(subject, payload);
  const meta = { deliveries: deliveries + 1, stream, streamSequence: stream_seq };
  return event && { event, meta, traceparent: undefined };
};

/** Later versions did not wait for the parked one, so it may have been overtaken. */
const isStale = async (
  trx: Knex.Transaction,
  { ordered, consumer }: HandlerDeps,
  event: EpochVersion & { readonly aggregate: string },
): Promise<boolean> => {
  if (!ordered) return false;
  const newest = await findVersion(trx, consumer, event.aggregate);
  return newest !== undefined && isEarlier(event, newest);
};

const resolution = (id: string, outcome: DeadLetterOutcome['outcome']): DeadLetterOutcome => ({
  id,
  outcome,
  error_code: null,
});

import type { DeadLetterOutcome } from '@svc/contracts';
import type { Knex } from 'knex';
import { findDeadLetterForUpdate, type StoredDeadLetter, updateDeadLetterResolved } from './dead-letter-queries.ts';
import { classifyFailure } from './failure.ts';
import type { HandlerDeps } from './handler.ts';
import { parseFact } from './parse-message.ts';
import { findVersion, insertInbox } from './queries.ts';

/**
 * Handles a parked message again. Effect, inbox row and resolution commit together, so two replays have one effect. A message
 * that fails again stays parked. A fact of an ordered consumer has no effect if a newer version was handled since.
 */
export const replayDeadLetter = async (deps: HandlerDeps, id: string): Promise<DeadLetterOutcome> => {
  try {
    return await deps.database.transaction(async (trx) => {
      const letter = await findDeadLetterForUpdate(trx, id);
      if (letter === undefined || letter.resolved_at !== null) return resolution(id, 'already_resolved');
      return await replay(trx, deps, letter);
    });
  } catch (error) {
    const { code } = classifyFailure(error);
    deps.messaging.logger.error({ consumer: deps.consumer, code, err: error }, 'a dead letter failed again');
    return { id, outcome: 'failed', error_code: code };
  }
};

const replay = async (
  trx: Knex.Transaction,
  deps: HandlerDeps,
  letter: StoredDeadLetter,
): Promise<DeadLetterOutcome> => {
  const event = parseFact(letter.subject, letter.payload);
  if (event === undefined) return { id: letter.id, outcome: 'failed', error_code: 'messaging.invalid_message' };
  const { stream, stream_seq, deliveries } = letter;
  const fresh = await insertInbox(trx, deps.consumer, [event.id]);
  const outcome = fresh.size === 0 ? 'duplicate' : (await isStale(trx, deps, event)) ? 'stale' : 'handled';
  if (outcome === 'handled') {
    const meta = { deliveries: deliveries + 1, stream, streamSequence: stream_seq };
    await deps.effect(trx, [{ event, meta, traceparent: undefined }]);
  }
  await updateDeadLetterResolved(trx, letter.id);
  return resolution(letter.id, outcome);
};

/** Later versions did not wait for the parked one, so it may have been overtaken. */
const isStale = async (
  trx: Knex.Transaction,
  { ordered, consumer }: HandlerDeps,
  event: { readonly aggregate: string; readonly version: number },
): Promise<boolean> => {
  if (!ordered) return false;
  return ((await findVersion(trx, consumer, event.aggregate)) ?? 0) > event.version;
};

const resolution = (id: string, outcome: DeadLetterOutcome['outcome']): DeadLetterOutcome => ({
  id,
  outcome,
  error_code: null,
});

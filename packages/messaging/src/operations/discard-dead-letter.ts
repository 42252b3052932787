import type { DeadLetterOutcome } from '@svc/contracts';
import type { Knex } from 'knex';
import { findDeadLetterForUpdate, updateDeadLetterResolved } from '../inbox/dead-letter-queries.ts';
import { insertInbox } from '../inbox/queries.ts';

/** Resolves a dead letter without handling it; its row stays. Returns undefined for an unknown id. */
export const discardDeadLetter = async (database: Knex, id: string): Promise<DeadLetterOutcome | undefined> => {
  return await database.transaction(async (trx) => {
    const letter = await findDeadLetterForUpdate(trx, id);
    if (letter === undefined) return undefined;
    if (letter.resolved_at !== null) return { id, outcome: 'already_resolved', error_code: null };
    await updateDeadLetterResolved(trx, id);
    // A consumer that reads its stream again passes it over.
    if (letter.event_id !== null) await insertInbox(trx, letter.consumer, [letter.event_id]);
    return { id, outcome: 'discarded', error_code: null };
  });
};

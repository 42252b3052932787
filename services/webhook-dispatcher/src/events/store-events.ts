import type { newId } from '@svc/contracts';
import type { Knex } from 'knex';
import { encodeEnvelope } from './envelope.ts';
import type { EventDraft, StoredEvent } from './event.ts';
import { advanceLanes, type LaneHead, lockLanes } from './lane-queries.ts';
import { insertEvents, type NewEvent } from './queries.ts';

/** What storing needs from outside. */
export interface StoreDeps {
  readonly clock: () => Date;
  readonly newId: typeof newId;
}

/**
 * Gives each event the next place in its app's sequence and stores its body. Lanes stay locked until `trx` ends, so the
 * order of commits is the order of sequences. Events for apps without a configuration are dropped. Answers what was stored,
 * in the given order; whoever commits hints the worker afterwards.
 */
export async function storeEvents(
  trx: Knex.Transaction,
  drafts: readonly EventDraft[],
  deps: StoreDeps,
): Promise<StoredEvent[]> {
  if (drafts.length === 0) return [];
  const lanes = await lockLanes(trx, [...new Set(drafts.map(({ clientId }) => clientId))]);
  const createdSeconds = Math.floor(deps.clock().getTime() / 1_000);
  const heads = new Map<string, LaneHead>(lanes.map((lane) => [lane.clientId, { ...lane }]));
  const events = drafts.flatMap((draft): NewEvent[] => {
    const lane = heads.get(draft.clientId);
    if (lane === undefined) return [];
    const sequence = lane.lastSequence + 1;
    heads.set(draft.clientId, { ...lane, lastSequence: sequence });
    const eventId = deps.newId('evt');
    const { clientId, event, factId } = draft;
    const body = encodeEnvelope(draft, { eventId, sequence, createdSeconds });
    return [{ clientId, sequence, eventId, generation: lane.generation, event, factId, body, createdSeconds }];
  });
  if (events.length === 0) return [];
  await insertEvents(trx, events);
  await advanceLanes(trx, [...heads.values()]);
  return events.map(({ clientId, eventId, sequence }) => ({ clientId, eventId, sequence }));
}

import type { EventsPage, StoredEvent } from './fetch-events.ts';
import { type EventProcessing, processEvent, type ReadEvent, reportGap } from './process-event.ts';
import { parseEvent } from './verify-webhook.ts';
import { WebhookEventsError } from './webhook-events-error.ts';
import { UnknownWebhookEventError } from './webhook-rejected-error.ts';

/** Commits in a row that the store may lose before the receiver gives up. */
const LOST_COMMITS_MAX = 20;

/** A receiver that can fetch events. */
export interface GapClosing<Trx> extends EventProcessing<Trx> {
  readonly clientId: string;
  readonly fetchEvents: (afterSequence: number) => Promise<EventsPage>;
  /** Sequence behind which an empty store begins. */
  readonly startAfterSequence: number;
}

export interface GapBounds {
  /** Stops before this sequence. Defaults to the end of the list. */
  readonly below?: number | undefined;
  /** Called before each request and event. Returning true stops; so does throwing. */
  readonly isOver: () => boolean;
}

export interface ClosedGap {
  /** Number of events that reached the handler. */
  readonly processed: number;
  /** Every event up to here has been processed or passed over, or the service no longer has it. */
  readonly lastSequence: number;
  /** False if `isOver` stopped it. */
  readonly isClosed: boolean;
}

/**
 * Fetches the events behind the highest processed sequence and processes each in a transaction, in order. Starts again
 * where the store says, so it can be stopped, killed or run twice at any time. Throws `WebhookEventsError`,
 * `WebhookEventsLostError`, and errors of the handler and the store.
 */
export const closeGap = async <Trx>(gap: GapClosing<Trx>, { below, isOver }: GapBounds): Promise<ClosedGap> => {
  let at = await readPosition(gap);
  let processed = 0;
  /** Highest processed sequence, as the store had it last. */
  let done = at;
  let highest = at;
  let lostCommits = 0;
  for (;;) {
    if (isOver()) return { processed, lastSequence: at, isClosed: false };
    const page = await gap.fetchEvents(at);
    let isRewound = false;
    for (const stored of page.data) {
      if (below !== undefined && stored.sequence >= below) return { processed, lastSequence: at, isClosed: true };
      if (isOver()) return { processed, lastSequence: at, isClosed: false };
      if (stored.sequence <= done) {
        // Another worker is ahead.
        at = stored.sequence;
        continue;
      }
      const step = await gap.store.inTransaction((trx) => takeStep(gap, trx, { stored, after: at }));
      done = step.last;
      isRewound = step.last < at;
      at = isRewound ? step.last : stored.sequence;
      if (isRewound) break;
      if (step.isProcessed) processed += 1;
    }
    if (!isRewound && !page.has_more) return { processed, lastSequence: at, isClosed: true };
    lostCommits = at > highest ? 0 : lostCommits + 1;
    highest = Math.max(highest, at);
    if (lostCommits > LOST_COMMITS_MAX) throw new Error('The webhook store does not keep what it has committed.');
  }
};

const readPosition = async <Trx>({ store, clientId, startAfterSequence }: GapClosing<Trx>): Promise<number> =>
  await store.inTransaction(async (trx) => (await store.lockIntegration(trx, clientId)) ?? startAfterSequence);

/**
 * Processes the next event of the list, behind `after`. Returns the position that the store had before. Changes nothing
 * if another worker was faster, or if the store has fallen behind `after`: then a commit was lost, and the events since
 * have to be fetched again.
 */
const takeStep = async <Trx>(
  gap: GapClosing<Trx>,
  trx: Trx,
  { stored, after }: { readonly stored: StoredEvent; readonly after: number },
): Promise<{ last: number; isProcessed: boolean }> => {
  const { store, clientId: integrationId } = gap;
  const { sequence } = stored;
  const known = await store.lockIntegration(trx, integrationId);
  const last = known ?? gap.startAfterSequence;
  if (last < after || sequence <= last) return { last, isProcessed: false };
  await reportGap(gap, trx, { integrationId, sequence, last: known, isLost: true });
  if (stored.status === 'skipped') {
    // The owner has decided that the handler shall not see it.
    await store.updateLastSequence(trx, integrationId, sequence);
    return { last, isProcessed: false };
  }
  const outcome = await processEvent(gap, trx, { ...readStored(stored, integrationId), last: known });
  if (outcome === 'duplicate') await store.updateLastSequence(trx, integrationId, sequence);
  return { last, isProcessed: outcome === 'processed' };
};

const readStored = ({ event_id: eventId, sequence, payload }: StoredEvent, clientId: string): ReadEvent => {
  const read = readPayload(payload, clientId);
  if (read.envelope.event_id === eventId && read.envelope.sequence === sequence) return read;
  throw new WebhookEventsError('invalid_answer');
};

const readPayload = (payload: string, clientId: string): ReadEvent => {
  try {
    const event = parseEvent(new TextEncoder().encode(payload), clientId);
    return { envelope: event, event };
  } catch (error) {
    if (error instanceof UnknownWebhookEventError) return { envelope: error.envelope, event: undefined };
    throw new WebhookEventsError('invalid_answer', { cause: error });
  }
};

import { WebhookEventsLostError } from './webhook-errors.ts';
import type { AccountWebhookEnvelope, AccountWebhookEvent, WebhookEnvelope, WebhookEvent } from './webhook-event.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface DeliveryContext {
  /**
   * True if a later event was processed before this one. Stale snapshots never reach the handler; for other kinds the
   * handler decides if a later event has superseded this one.
   */
  readonly isLate: boolean;
}

/**
 * Sequences that the receiver never got, between two processed events. With `events`: the service no longer has them.
 * Without: they were skipped or cancelled by the owner, or lost here.
 */
export interface SequenceGap {
  readonly integrationId: string;
  readonly from: number;
  /** Last missing sequence. */
  readonly to: number;
}

/** The receiver's part of processing an event. */
export interface EventProcessing<Trx, Event = WebhookEvent> {
  readonly store: WebhookStore<Trx>;
  readonly handle: (event: Event, trx: Trx, context: DeliveryContext) => Promise<void>;
  readonly onGap?: ((gap: SequenceGap, trx: Trx) => void | Promise<void>) | undefined;
}

export interface ReadEvent<Event = WebhookEvent> {
  readonly envelope: WebhookEnvelope | AccountWebhookEnvelope;
  /** Undefined if the kind is unknown. */
  readonly event: Event | undefined;
}

/** Returns the id under which a store keeps the sequence of an envelope: the app's, or the account's. */
export const integrationOf = (envelope: ReadEvent['envelope']): string =>
  'integration_id' in envelope ? envelope.integration_id : envelope.account_id;

/** Processes an event in a transaction that holds the lock of its integration. `last` is the highest processed sequence. */
export const processEvent = async <Trx, Event extends WebhookEvent | AccountWebhookEvent>(
  { store, handle }: EventProcessing<Trx, Event>,
  trx: Trx,
  { envelope, event, last }: ReadEvent<Event> & { readonly last: number | undefined },
): Promise<'processed' | 'duplicate' | 'stale' | 'ignored'> => {
  const { event_id: eventId, sequence } = envelope;
  const integrationId = integrationOf(envelope);
  const isNew = await store.insertMarker(trx, { integrationId, eventId, event: envelope.event, sequence });
  if (!isNew) return 'duplicate';
  if (last === undefined || sequence > last) await store.updateLastSequence(trx, integrationId, sequence);
  if (event === undefined) return 'ignored';
  if (!(await isCurrent(store, trx, event))) return 'stale';
  await handle(event, trx, { isLate: last !== undefined && sequence < last });
  return 'processed';
};

/**
 * Reports the sequences between two processed events. There is no gap before the first event. `isLost`: the service no
 * longer has them, so without `onGap` it throws `WebhookEventsLostError`.
 */
export const reportGap = async <Trx>(
  { onGap }: Pick<EventProcessing<Trx>, 'onGap'>,
  trx: Trx,
  { integrationId, sequence, last, isLost }: SequencePlace & { readonly isLost: boolean },
): Promise<void> => {
  if (last === undefined || sequence <= last + 1) return;
  const gap = { integrationId, from: last + 1, to: sequence - 1 };
  if (onGap === undefined && isLost) throw new WebhookEventsLostError(gap);
  await onGap?.(gap, trx);
};

interface SequencePlace {
  readonly integrationId: string;
  readonly sequence: number;
  readonly last: number | undefined;
}

/** Returns false for a subscription snapshot that is older than the latest one processed. */
const isCurrent = async <Trx>(
  store: WebhookStore<Trx>,
  trx: Trx,
  event: WebhookEvent | AccountWebhookEvent,
): Promise<boolean> => {
  switch (event.event) {
    case 'subscription.updated':
    case 'subscription.ended':
    case 'subscription.changed':
      return await store.takeSnapshotPlace(trx, {
        integrationId: integrationOf(event),
        svcUserId: 'user' in event ? event.user.svc_user_id : event.account_id,
        revision: event.data.revision,
        sequence: event.sequence,
      });
    default:
      return true;
  }
};

import { readSecrets, type SigningSecret, verifyWebhook } from './verify-webhook.ts';
import type { WebhookEnvelope, WebhookEvent } from './webhook-event.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-rejected-error.ts';
import type { WebhookStore } from './webhook-store.ts';

/** What a handler is told beside the event. */
export interface DeliveryContext {
  /**
   * A later event was processed before this one. Stale snapshots are not handed over at all; other kinds are, and it is for
   * the handler to say whether what came later has overtaken them.
   */
  readonly isLate: boolean;
}

/** Sequences between two processed events that were never seen: skipped or cancelled by the app's owner, or lost here. */
export interface SequenceGap {
  readonly integrationId: string;
  /** The first missing sequence. */
  readonly from: number;
  /** The last missing sequence. */
  readonly to: number;
}

/** What was delivered. */
export interface Delivery {
  readonly rawBody: Uint8Array | string;
  /** The `X-Svc-Signature` header. */
  readonly signature: string | readonly string[] | null | undefined;
}

/**
 * What became of a delivery, and the status to answer with, which is 2xx only after the commit.
 *
 * - `processed`: the handler's work and the marker are committed.
 * - `duplicate`: it was processed before.
 * - `stale`: a later snapshot of the same user was processed before.
 * - `ignored`: genuine, but of a kind that this release does not know.
 * - `rejected`: not genuine, or not understood.
 * - `failed`: handler or store failed; all was rolled back, and the service will deliver it again.
 */
export type Receipt =
  | { readonly outcome: 'processed' | 'duplicate' | 'stale' | 'ignored'; readonly status: 204 }
  | { readonly outcome: 'rejected'; readonly status: number; readonly error: WebhookRejectedError }
  | { readonly outcome: 'failed'; readonly status: 500; readonly error: unknown };

/** What a receiver is made of. */
export interface WebhookReceiverOptions<Trx> {
  readonly secret: SigningSecret;
  /** The app's `client_id`. */
  readonly clientId: string;
  readonly store: WebhookStore<Trx>;
  /**
   * The app's own work, in the transaction that also notes the event. Whatever it does with `trx` happens once; whatever it
   * does elsewhere may happen again. Keep it under the 10 s after which the service gives an attempt up.
   */
  readonly handle: (event: WebhookEvent, trx: Trx, context: DeliveryContext) => Promise<void>;
  /** Told of missing events, in the transaction too; what it throws rolls everything back, as with the handler. */
  readonly onGap?: ((gap: SequenceGap, trx: Trx) => void | Promise<void>) | undefined;
  readonly toleranceSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

/** Receives the events of one app. */
export interface WebhookReceiver {
  /** Never rejects for what a delivery or a handler does: the receipt says it. */
  receive(delivery: Delivery): Promise<Receipt>;
}

/**
 * Makes a receiver that processes each event once, in one transaction with the handler's work, however many workers share
 * the store and however often the service delivers.
 */
export const createWebhookReceiver = <Trx>(options: WebhookReceiverOptions<Trx>): WebhookReceiver => {
  readSecrets(options.secret);
  return {
    receive: async (delivery) => {
      try {
        const read = readDelivery(delivery, options);
        const outcome = await options.store.inTransaction((trx) => processOnce(options, trx, read));
        return { outcome, status: 204 };
      } catch (error) {
        if (error instanceof WebhookRejectedError) return { outcome: 'rejected', status: error.status, error };
        return { outcome: 'failed', status: 500, error };
      }
    },
  };
};

interface ReadEvent {
  readonly envelope: WebhookEvent | WebhookEnvelope;
  /** Undefined where the kind is unknown. */
  readonly event: WebhookEvent | undefined;
}

const readDelivery = <Trx>(delivery: Delivery, options: WebhookReceiverOptions<Trx>): ReadEvent => {
  try {
    const event = verifyWebhook(delivery.rawBody, delivery.signature, options.secret, {
      toleranceSeconds: options.toleranceSeconds,
      now: options.clock?.(),
      integrationId: options.clientId,
    });
    return { envelope: event, event };
  } catch (error) {
    if (error instanceof UnknownWebhookEventError) return { envelope: error.envelope, event: undefined };
    throw error;
  }
};

const processOnce = async <Trx>(
  { store, handle, onGap }: WebhookReceiverOptions<Trx>,
  trx: Trx,
  { envelope, event }: ReadEvent,
): Promise<'processed' | 'duplicate' | 'stale' | 'ignored'> => {
  const { integration_id: integrationId, event_id: eventId, sequence } = envelope;
  const last = await store.lockIntegration(trx, integrationId);
  const isNew = await store.insertMarker(trx, { integrationId, eventId, event: envelope.event, sequence });
  if (!isNew) return 'duplicate';
  if (last === undefined || sequence > last) await store.updateLastSequence(trx, integrationId, sequence);
  if (last !== undefined && sequence > last + 1)
    await onGap?.({ integrationId, from: last + 1, to: sequence - 1 }, trx);
  if (event === undefined) return 'ignored';
  if (!(await isCurrent(store, trx, event))) return 'stale';
  await handle(event, trx, { isLate: last !== undefined && sequence < last });
  return 'processed';
};

/** Events about subscriptions are snapshots: one that is older than what is known says nothing. */
const isCurrent = async <Trx>(store: WebhookStore<Trx>, trx: Trx, event: WebhookEvent): Promise<boolean> => {
  if (event.event !== 'subscription.updated' && event.event !== 'subscription.ended') return true;
  return await store.takeSnapshotPlace(trx, {
    integrationId: event.integration_id,
    svcUserId: event.user.svc_user_id,
    revision: event.data.revision,
    sequence: event.sequence,
  });
};

import type { WebhookHeaders } from './signature-headers.ts';
import { readSecrets, type SigningSecret, verifyWebhook } from './verify-webhook.ts';
import type { WebhookEnvelope, WebhookEvent } from './webhook-event.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-rejected-error.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface DeliveryContext {
  /**
   * True if a later event was processed before this one. Stale snapshots never reach the handler; for other kinds the
   * handler decides if a later event has superseded this one.
   */
  readonly isLate: boolean;
}

/** Sequences that were never received between two processed events: skipped or cancelled by the owner, or lost here. */
export interface SequenceGap {
  readonly integrationId: string;
  readonly from: number;
  /** Last missing sequence. */
  readonly to: number;
}

/** A webhook request as received. */
export interface Delivery {
  readonly rawBody: Uint8Array | string;
  /** Headers of the request, or the value of `X-Svc-Signature`. */
  readonly headers: WebhookHeaders;
}

/**
 * Result of a delivery, with the status to answer. The status is 2xx only after the commit.
 *
 * - `processed`: the handler's work and the marker are committed.
 * - `duplicate`: the event was processed before.
 * - `stale`: a later snapshot of the same user was processed before.
 * - `ignored`: authentic, but of a kind that this release does not know.
 * - `rejected`: not authentic, or malformed.
 * - `failed`: the handler or the store failed. Everything was rolled back, and the service will deliver again.
 */
export type Receipt =
  | { readonly outcome: 'processed' | 'duplicate' | 'stale' | 'ignored'; readonly status: 204 }
  | { readonly outcome: 'rejected'; readonly status: number; readonly error: WebhookRejectedError }
  | { readonly outcome: 'failed'; readonly status: 500; readonly error: unknown };

export interface WebhookReceiverOptions<Trx> {
  readonly secret: SigningSecret;
  /** The app's `client_id`. */
  readonly clientId: string;
  readonly store: WebhookStore<Trx>;
  /**
   * The app's own work, in the transaction that records the event. Changes made through `trx` happen once; other
   * effects may repeat. Finish within 10 s, after which the service gives up on the attempt.
   */
  readonly handle: (event: WebhookEvent, trx: Trx, context: DeliveryContext) => Promise<void>;
  /** Called for missing events, in the same transaction. If it throws, everything is rolled back. */
  readonly onGap?: ((gap: SequenceGap, trx: Trx) => void | Promise<void>) | undefined;
  readonly toleranceSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

/** Receives the events of one app. */
export interface WebhookReceiver {
  /** Never rejects because of a delivery or the handler: the receipt carries the error. */
  receive(delivery: Delivery): Promise<Receipt>;
}

/**
 * Creates a receiver that processes each event once, in one transaction with the handler's work, regardless of the
 * number of workers and deliveries.
 */
export const createWebhookReceiver = <Trx>(options: WebhookReceiverOptions<Trx>): WebhookReceiver => {
  readSecrets(options.secret);
  return {
    receive: async (delivery) => {
      try {
        const read = await readDelivery(delivery, options);
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
  /** Undefined if the kind is unknown. */
  readonly event: WebhookEvent | undefined;
}

const readDelivery = async <Trx>(delivery: Delivery, options: WebhookReceiverOptions<Trx>): Promise<ReadEvent> => {
  try {
    const event = await verifyWebhook(delivery.rawBody, delivery.headers, options.secret, {
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

/** Returns false for a subscription snapshot that is older than the latest one processed. */
const isCurrent = async <Trx>(store: WebhookStore<Trx>, trx: Trx, event: WebhookEvent): Promise<boolean> => {
  if (event.event !== 'subscription.updated' && event.event !== 'subscription.ended') return true;
  return await store.takeSnapshotPlace(trx, {
    integrationId: event.integration_id,
    svcUserId: event.user.svc_user_id,
    revision: event.data.revision,
    sequence: event.sequence,
  });
};

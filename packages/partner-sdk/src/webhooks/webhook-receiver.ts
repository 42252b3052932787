import { closeGap, createEventsFetcher, type GapClosing, type WebhookEventsOptions } from './catch-up.ts';
import {
  type DeliveryContext,
  type EventProcessing,
  integrationOf,
  processEvent,
  type ReadEvent,
  reportGap,
  type SequenceGap,
} from './process-event.ts';
import type { WebhookHeaders } from './signature.ts';
import { readSecrets, type SigningSecret, verifyAccountWebhook, verifyWebhook } from './verify-webhook.ts';
import { UnknownWebhookEventError, WebhookRejectedError } from './webhook-errors.ts';
import type { AccountWebhookEvent, WebhookEvent } from './webhook-event.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Time for closing a gap during a delivery. The service gives up on an attempt after 10 s. */
const GAP_MS_MAX = 6_000;

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
 * - `behind`: earlier events are missing, and fetching them takes longer than the delivery may. The service will deliver
 *   again; `catchUp()` does not wait for it.
 * - `rejected`: not authentic, or malformed.
 * - `failed`: the handler or the store failed, or missing events could not be fetched. Everything was rolled back, and
 *   the service will deliver again.
 */
export type Receipt =
  | { readonly outcome: 'processed' | 'duplicate' | 'stale' | 'ignored'; readonly status: 204 }
  | { readonly outcome: 'behind'; readonly status: 503 }
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
  /**
   * Lets the receiver fetch missed events. Then every event is processed in order, and a gap is closed before the event
   * behind it is processed.
   */
  readonly events?: WebhookEventsOptions | undefined;
  /**
   * Called for missing events, in the same transaction. If it throws, everything is rolled back. With `events` it is
   * called only for those that the service no longer has; without it, such a loss stops the receiver.
   */
  readonly onGap?: ((gap: SequenceGap, trx: Trx) => void | Promise<void>) | undefined;
  readonly toleranceSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

export interface AccountWebhookReceiverOptions<Trx> {
  readonly secret: SigningSecret;
  /** The account's `svc_user_id`. */
  readonly accountId: string;
  readonly store: WebhookStore<Trx>;
  /** As for `createWebhookReceiver`. */
  readonly handle: (event: AccountWebhookEvent, trx: Trx, context: DeliveryContext) => Promise<void>;
  /** Called for missing events, in the same transaction. If it throws, everything is rolled back. */
  readonly onGap?: ((gap: SequenceGap, trx: Trx) => void | Promise<void>) | undefined;
  readonly toleranceSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

export interface CatchUp {
  /** Number of events that reached the handler. */
  readonly processed: number;
  /** Sequence up to which the receiver is done. */
  readonly lastSequence: number;
}

/** Receives the events of one app. */
export interface WebhookReceiver {
  /** Never rejects because of a delivery or the handler: the receipt carries the error. */
  receive(delivery: Delivery): Promise<Receipt>;
  /**
   * Fetches and processes every event that the receiver has missed, regardless of what the service has delivered. Call
   * it at start-up, or let `keepCaughtUp` do it. It may be stopped or killed at any time, and run beside deliveries.
   * Throws `WebhookEventsError`, `WebhookEventsLostError`, errors of the handler and the store, and the reason of an
   * aborted signal.
   */
  catchUp(options?: { readonly signal?: AbortSignal | undefined }): Promise<CatchUp>;
}

/**
 * Creates a receiver that processes each event once, in one transaction with the handler's work, regardless of the
 * number of workers and deliveries.
 */
export const createWebhookReceiver = <Trx>(options: WebhookReceiverOptions<Trx>): WebhookReceiver => {
  readSecrets(options.secret);
  const gapClosing = toGapClosing(options);
  return {
    receive: (delivery) =>
      answering(async () => {
        const read = await readDelivery(() =>
          verifyWebhook(delivery.rawBody, delivery.headers, options.secret, {
            ...timeOf(options),
            integrationId: options.clientId,
          }),
        );
        return await (gapClosing === undefined
          ? processAlone(options, read)
          : processInOrder(gapClosing, read, options.clock));
      }),
    catchUp: async ({ signal } = {}) => {
      if (gapClosing === undefined) throw new TypeError('catchUp() needs the option `events`');
      const isOver = (): boolean => {
        signal?.throwIfAborted();
        return false;
      };
      const { processed, lastSequence } = await closeGap(gapClosing, { isOver });
      return { processed, lastSequence };
    },
  };
};

/**
 * Creates a receiver of an account's own events, which processes each of them once, in one transaction with the handler's work.
 * It works with the same stores and adapters as that of an app.
 */
export const createAccountWebhookReceiver = <Trx>(
  options: AccountWebhookReceiverOptions<Trx>,
): Pick<WebhookReceiver, 'receive'> => {
  const { secret, accountId } = options;
  readSecrets(secret);
  return {
    receive: ({ rawBody, headers }) =>
      answering(async () => {
        const read = await readDelivery(() =>
          verifyAccountWebhook(rawBody, headers, secret, { ...timeOf(options), accountId }),
        );
        return await processAlone(options, read);
      }),
  };
};

const timeOf = ({ toleranceSeconds, clock }: Pick<WebhookReceiverOptions<unknown>, 'toleranceSeconds' | 'clock'>) => ({
  toleranceSeconds,
  now: clock?.(),
});

const answering = async (process: () => Promise<Receipt>): Promise<Receipt> => {
  try {
    return await process();
  } catch (error) {
    if (error instanceof WebhookRejectedError) return { outcome: 'rejected', status: error.status, error };
    return { outcome: 'failed', status: 500, error };
  }
};

const toGapClosing = <Trx>(options: WebhookReceiverOptions<Trx>): GapClosing<Trx> | undefined => {
  const { clientId, store, handle, onGap, events } = options;
  if (events === undefined) return undefined;
  const { startAfterSequence = 0 } = events;
  if (!Number.isSafeInteger(startAfterSequence) || startAfterSequence < 0) {
    throw new TypeError('events.startAfterSequence must be a sequence, or 0');
  }
  return { clientId, store, handle, onGap, startAfterSequence, fetchEvents: createEventsFetcher(clientId, events) };
};

const readDelivery = async <Event extends WebhookEvent | AccountWebhookEvent>(
  verify: () => Promise<Event>,
): Promise<ReadEvent<Event>> => {
  try {
    const event = await verify();
    return { envelope: event, event };
  } catch (error) {
    if (error instanceof UnknownWebhookEventError) return { envelope: error.envelope, event: undefined };
    throw error;
  }
};

/** Processes an event as it arrives, and reports the sequences that did not arrive before it. */
const processAlone = async <Trx, Event extends WebhookEvent | AccountWebhookEvent>(
  options: EventProcessing<Trx, Event>,
  read: ReadEvent<Event>,
): Promise<Receipt> => {
  const { store } = options;
  const { sequence } = read.envelope;
  const integrationId = integrationOf(read.envelope);
  const outcome = await store.inTransaction(async (trx) => {
    const last = await store.lockIntegration(trx, integrationId);
    await reportGap(options, trx, { integrationId, sequence, last, isLost: false });
    return await processEvent(options, trx, { ...read, last });
  });
  return { outcome, status: 204 };
};

/** Processes an event behind all earlier ones, which it fetches first if they are missing. */
const processInOrder = async <Trx>(
  gap: GapClosing<Trx>,
  read: ReadEvent,
  clock = () => new Date(),
): Promise<Receipt> => {
  const { store, startAfterSequence } = gap;
  const { sequence } = read.envelope;
  const integrationId = integrationOf(read.envelope);
  const endsAtMs = clock().getTime() + GAP_MS_MAX;
  // The service has no event between this sequence and the delivered one.
  let knownUpTo = sequence - 1;
  for (;;) {
    const outcome = await store.inTransaction(async (trx) => {
      const last = await store.lockIntegration(trx, integrationId);
      if ((last ?? startAfterSequence) < knownUpTo) return undefined;
      await reportGap(gap, trx, { integrationId, sequence, last, isLost: true });
      return await processEvent(gap, trx, { ...read, last });
    });
    if (outcome !== undefined) return { outcome, status: 204 };
    const isOver = (): boolean => clock().getTime() >= endsAtMs;
    const { isClosed, lastSequence } = await closeGap(gap, { below: sequence, isOver });
    if (!isClosed) return { outcome: 'behind', status: 503 };
    knownUpTo = lastSequence;
  }
};

import type { AccountWebhookEnvelope, WebhookEnvelope } from './webhook-event.ts';

/**
 * Reason why missed events could not be fetched.
 *
 * - `unauthorized`: the service does not know this client id and secret.
 * - `gone`: the service has no such app or list.
 * - `unavailable`: the service did not answer in time. Try again later.
 * - `invalid_answer`: the answer violates the contract.
 */
export type WebhookEventsErrorReason = 'unauthorized' | 'gone' | 'unavailable' | 'invalid_answer';

const MESSAGES: Record<WebhookEventsErrorReason, string> = {
  unauthorized: 'The service refuses the client id and secret, so missed events cannot be fetched.',
  gone: 'The service has no list of events for this app, so missed events cannot be fetched.',
  unavailable: 'The service did not answer in time, so missed events cannot be fetched now.',
  invalid_answer: 'The list of missed events violates the contract.',
};

/** Missed events could not be fetched. Nothing was skipped: the next attempt starts at the same place. */
export class WebhookEventsError extends Error {
  override readonly name = 'WebhookEventsError';
  readonly reason: WebhookEventsErrorReason;

  constructor(reason: WebhookEventsErrorReason, options: { cause?: unknown } = {}) {
    super(MESSAGES[reason], options);
    this.reason = reason;
  }
}

/**
 * The service has deleted events that this receiver never got, and the receiver has no `onGap` that accepts the loss.
 * Events are kept for 30 days after their delivery.
 */
export class WebhookEventsLostError extends Error {
  override readonly name = 'WebhookEventsLostError';
  readonly from: number;
  /** Last lost sequence. */
  readonly to: number;

  constructor({ from, to }: { readonly from: number; readonly to: number }) {
    super(
      `The service no longer has the events ${from} to ${to}. Give the receiver an \`onGap\` to go on without them.`,
    );
    this.from = from;
    this.to = to;
  }
}

/** Reason for rejecting a delivery. */
export type WebhookRejection =
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_mismatch'
  | 'timestamp_out_of_tolerance'
  | 'body_too_large'
  | 'body_malformed'
  | 'integration_mismatch'
  | 'account_mismatch';

const REJECTIONS: Record<WebhookRejection, { status: number; message: string }> = {
  signature_missing: { status: 401, message: 'There is neither an X-Svc-Signature nor a webhook-signature header.' },
  signature_malformed: {
    status: 401,
    message: 'The signature is neither `t=<seconds>,v1=<hex>` nor that of Standard Webhooks.',
  },
  signature_mismatch: { status: 401, message: 'The signature does not match this body and secret.' },
  timestamp_out_of_tolerance: { status: 401, message: 'The signed time is too far from now. Is the clock right?' },
  body_too_large: { status: 413, message: 'The body is too large for an event.' },
  body_malformed: { status: 400, message: 'The body is signed but is not an event.' },
  integration_mismatch: { status: 403, message: 'The event is for another app.' },
  account_mismatch: { status: 403, message: 'The event is for another account.' },
};

/** A rejected delivery. `status` is the status to answer. */
export class WebhookRejectedError extends Error {
  override readonly name = 'WebhookRejectedError';
  readonly reason: WebhookRejection;
  readonly status: number;

  constructor(reason: WebhookRejection, options: { cause?: unknown } = {}) {
    super(REJECTIONS[reason].message, options);
    this.reason = reason;
    this.status = REJECTIONS[reason].status;
  }
}

/**
 * The delivery is authentic, but this release does not know its `event`. Answer 2xx, as the receiver does: a rejected
 * event blocks all later ones.
 */
export class UnknownWebhookEventError extends Error {
  override readonly name = 'UnknownWebhookEventError';
  readonly envelope: WebhookEnvelope | AccountWebhookEnvelope;

  constructor(envelope: WebhookEnvelope | AccountWebhookEnvelope) {
    super(`The event ${JSON.stringify(envelope.event.slice(0, 100))} is unknown to this release.`);
    this.envelope = envelope;
  }
}

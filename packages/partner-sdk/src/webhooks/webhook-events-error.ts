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

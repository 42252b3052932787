import type { accountWebhookEventShape, webhookEventShape } from '../generated/webhooks.ts';
import { accepts, type Infer, integer, object, openObject, text } from '../shape.ts';

/** Envelope of every event, including kinds that this release does not know. */
export const webhookEnvelopeShape = object({
  api_version: text(),
  event_id: text(1),
  event: text(),
  integration_id: text(1),
  sequence: integer(1),
  created: integer(0),
  user: object({ svc_user_id: text(1) }),
  data: openObject({}),
});

export type WebhookEnvelope = Infer<typeof webhookEnvelopeShape>;

/** Envelope of every event of an account, including kinds that this release does not know. */
export const accountEnvelopeShape = object({
  api_version: text(),
  event_id: text(1),
  event: text(),
  account_id: text(1),
  sequence: integer(1),
  created: integer(0),
  data: openObject({}),
});

export type AccountWebhookEnvelope = Infer<typeof accountEnvelopeShape>;

/**
 * An event; narrow it by `event`. `created` is in Unix seconds. `sequence` grows by one with each event of an app: a
 * gap is an event that was skipped, cancelled, or has not arrived yet.
 */
export type WebhookEvent = Infer<typeof webhookEventShape>;

/** An event of an account's own webhook, such as `wallet.low`; narrow it by `event`. */
export type AccountWebhookEvent = Infer<typeof accountWebhookEventShape>;

/** Returns the envelope of a parsed body, or undefined. It proves nothing: only `verifyWebhook` checks a signature. */
export const readWebhookEnvelope = (body: unknown): WebhookEnvelope | undefined =>
  accepts(webhookEnvelopeShape, body) ? body : undefined;

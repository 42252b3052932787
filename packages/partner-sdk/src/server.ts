export {
  accountWebhookEventNames,
  STANDARD_WEBHOOK_HEADERS,
  WEBHOOK_SIGNATURE_HEADER,
  webhookEventNames,
} from './generated/webhooks.ts';
export {
  expressWebhook,
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyWebhook,
  fetchWebhook,
  type HonoContextLike,
  honoWebhook,
  type NodeRequestLike,
  type NodeResponseLike,
} from './webhooks/adapters.ts';
export type { WebhookEventsOptions } from './webhooks/catch-up.ts';
export { type CaughtUp, type KeepCaughtUpOptions, keepCaughtUp } from './webhooks/keep-caught-up.ts';
export {
  createPostgresWebhookStore,
  type KnexLike,
  type KnexTransactionLike,
  type PostgresWebhookStore,
  webhookTablesSql,
} from './webhooks/postgres-webhook-store.ts';
export type { DeliveryContext, SequenceGap } from './webhooks/process-event.ts';
export type { WebhookHeaders } from './webhooks/signature.ts';
export { type SignedDelivery, signWebhook } from './webhooks/signature.ts';
export {
  type SigningSecret,
  type VerifyAccountWebhookOptions,
  type VerifyWebhookOptions,
  verifyAccountWebhook,
  verifyWebhook,
} from './webhooks/verify-webhook.ts';
export {
  UnknownWebhookEventError,
  WebhookEventsError,
  type WebhookEventsErrorReason,
  WebhookEventsLostError,
  WebhookRejectedError,
  type WebhookRejection,
} from './webhooks/webhook-errors.ts';
export {
  type AccountWebhookEnvelope,
  type AccountWebhookEvent,
  readWebhookEnvelope,
  type WebhookEnvelope,
  type WebhookEvent,
} from './webhooks/webhook-event.ts';
export {
  type AccountWebhookReceiverOptions,
  type CatchUp,
  createAccountWebhookReceiver,
  createWebhookReceiver,
  type Delivery,
  type Receipt,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhooks/webhook-receiver.ts';
export type { EventMarker, SnapshotPlace, WebhookStore } from './webhooks/webhook-store.ts';
export { createMemoryWebhookStore } from './webhooks/webhook-store.ts';

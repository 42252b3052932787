export {
  accountWebhookEventNames,
  STANDARD_WEBHOOK_HEADERS,
  WEBHOOK_SIGNATURE_HEADER,
  webhookEventNames,
} from '../generated/webhooks.ts';
export { expressWebhook, type NodeRequestLike, type NodeResponseLike } from './express-webhook.ts';
export {
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyWebhook,
} from './fastify-webhook.ts';
export type { WebhookEventsOptions } from './fetch-events.ts';
export { fetchWebhook, type HonoContextLike, honoWebhook } from './fetch-webhook.ts';
export { type CaughtUp, type KeepCaughtUpOptions, keepCaughtUp } from './keep-caught-up.ts';
export { createMemoryWebhookStore } from './memory-webhook-store.ts';
export {
  createPostgresWebhookStore,
  type KnexLike,
  type KnexTransactionLike,
  type PostgresWebhookStore,
  webhookTablesSql,
} from './postgres-webhook-store.ts';
export type { DeliveryContext, SequenceGap } from './process-event.ts';
export { type SignedDelivery, signWebhook } from './sign-webhook.ts';
export type { WebhookHeaders } from './signature-headers.ts';
export {
  type SigningSecret,
  type VerifyAccountWebhookOptions,
  type VerifyWebhookOptions,
  verifyAccountWebhook,
  verifyWebhook,
} from './verify-webhook.ts';
export {
  type AccountWebhookEnvelope,
  type AccountWebhookEvent,
  readWebhookEnvelope,
  type WebhookEnvelope,
  type WebhookEvent,
} from './webhook-event.ts';
export {
  WebhookEventsError,
  type WebhookEventsErrorReason,
  WebhookEventsLostError,
} from './webhook-events-error.ts';
export {
  type AccountWebhookReceiverOptions,
  type CatchUp,
  createAccountWebhookReceiver,
  createWebhookReceiver,
  type Delivery,
  type Receipt,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhook-receiver.ts';
export { UnknownWebhookEventError, WebhookRejectedError, type WebhookRejection } from './webhook-rejected-error.ts';
export type { EventMarker, SnapshotPlace, WebhookStore } from './webhook-store.ts';

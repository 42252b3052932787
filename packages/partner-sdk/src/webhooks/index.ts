export { WEBHOOK_SIGNATURE_HEADER, webhookEventNames, webhookEventSchema } from '../generated/contract.ts';
export { expressWebhook, type NodeRequestLike, type NodeResponseLike } from './express-webhook.ts';
export {
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyWebhook,
} from './fastify-webhook.ts';
export { createMemoryWebhookStore } from './memory-webhook-store.ts';
export {
  createPostgresWebhookStore,
  type KnexLike,
  type KnexTransactionLike,
  type PostgresWebhookStore,
  webhookTablesSql,
} from './postgres-webhook-store.ts';
export { type SigningSecret, type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts';
export { type WebhookEnvelope, type WebhookEvent, webhookEnvelopeSchema } from './webhook-event.ts';
export {
  createWebhookReceiver,
  type Delivery,
  type DeliveryContext,
  type Receipt,
  type SequenceGap,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './webhook-receiver.ts';
export { UnknownWebhookEventError, WebhookRejectedError, type WebhookRejection } from './webhook-rejected-error.ts';
export type { EventMarker, SnapshotPlace, WebhookStore } from './webhook-store.ts';

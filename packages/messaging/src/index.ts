export { type ConnectOptions, connectMessaging, type Messaging } from './connection/connect-messaging.ts';
export { type EventOf, type EventSubject, hasSubject, type ReceivedEvent } from './connection/event-types.ts';
export type { MessagingLogger } from './connection/logger.ts';
export type { MessagingMetrics } from './connection/metrics.ts';
export { inboxMigration } from './inbox/inbox-tables.ts';
export type { DeliveryMeta } from './inbox/parse-message.ts';
export { type EpochVersion, readVersions } from './inbox/queries.ts';
export { readAgain } from './inbox/read-again.ts';
export {
  type BatchConsumerOptions,
  type Consumer,
  type ConsumerOptions,
  type PreparedConsumerOptions,
  startBatchConsumer,
  startConsumer,
} from './inbox/start-consumer.ts';
export { type TurnOptions, takeTurns, type VersionedFact } from './inbox/take-turns.ts';
export { type InboxRoutesDeps, inboxRoutes } from './operations/inbox-routes.ts';
export { type OutboxRoutesDeps, outboxRoutes } from './operations/outbox-routes.ts';
export { type RestoreReport, restoreRoutes } from './operations/restore-routes.ts';
export {
  appendToOutbox,
  type OutboxEvent,
  type OutboxRevocation,
  outboxInsert,
  outboxValues,
} from './outbox/append-to-outbox.ts';
export { beginEpoch, type Epoch } from './outbox/begin-epoch.ts';
export { outboxMigration } from './outbox/outbox-tables.ts';
export { type Relay, type RelayOptions, startRelay } from './outbox/start-relay.ts';
export { withOutbox } from './outbox/with-outbox.ts';
export { openRevocations, type RevocationsOptions } from './revocations/open-revocations.ts';
export {
  authSource,
  ownSource,
  type RevocationSource,
  revocationRoutes,
} from './revocations/recorded-revocations.ts';
export type { RevocationSubject, RevocationView } from './revocations/revocation-entries.ts';
export { appRevocationKey } from './revocations/revocation-entries.ts';
export { type SharedHints, type SharedHintsOptions, shareHints } from './share-hints.ts';

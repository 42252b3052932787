export type { MessagingLogger } from './connection/connect-messaging.ts';
export { type ConnectOptions, connectMessaging, type Messaging } from './connection/connect-messaging.ts';
export { type EventOf, type EventSubject, hasSubject, type ReceivedEvent } from './connection/event-types.ts';
export type { MessagingMetrics } from './connection/metrics.ts';
export type { DeliveryMeta } from './inbox/handler.ts';
export { type EpochVersion, inboxMigration, readVersions } from './inbox/inbox-tables.ts';
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
export {
  type InboxRoutesDeps,
  inboxRoutes,
  type OutboxRoutesDeps,
  outboxRoutes,
  type RestoreReport,
  restoreRoutes,
} from './operator-routes.ts';
export {
  appendToOutbox,
  type OutboxEvent,
  type OutboxRevocation,
  outboxInsert,
  outboxValues,
  withOutbox,
} from './outbox/append-to-outbox.ts';
export { beginEpoch, type Epoch, outboxMigration } from './outbox/outbox-tables.ts';
export { type Relay, type RelayOptions, startRelay } from './outbox/start-relay.ts';
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

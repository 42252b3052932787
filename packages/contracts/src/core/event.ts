import { z } from 'zod';
import type { ServiceName } from './route.ts';
import { timestampSchema } from './time.ts';

/** Name of a durable consumer: the consuming service, then its purpose. */
export type DurableName = `${ServiceName}_${string}`;

/** One kind of domain fact. Subject: `<service>.<aggregate>.<fact>.v<version>`. */
export interface EventDefinition {
  subject: string;
  /** The only publisher. */
  service: ServiceName;
  /** Durable consumers that receive it. The broker lets no other service read it. */
  consumers: readonly DurableName[];
  description: string;
  schema: z.ZodObject;
}

/** Keeps an event's literal type, so that publishers and consumers are typed by it. */
export const defineEvent = <const E extends EventDefinition>(event: E): E => event;

/** What every fact carries on the wire, around its `data`. */
export const eventEnvelopeSchema = z.object({
  id: z.uuid().meta({ description: 'UUIDv7; the same at every redelivery.' }),
  subject: z.string(),
  aggregate: z.string().meta({ description: 'What the fact is about, such as `app:app_…`.' }),
  version: z.int().min(1).meta({ description: 'Grows by one with each fact of the aggregate.' }),
  occurred_at: timestampSchema,
  data: z.record(z.string(), z.unknown()),
});

/** What every fact carries on the wire. */
export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;

/** JetStream streams: one per publishing service, holding its subjects. */
export const streams = {
  auth: { name: 'AUTH', subjects: ['auth.>'] },
  billing: { name: 'BILLING', subjects: ['billing.>'] },
  'inference-gateway': { name: 'INFERENCE', subjects: ['inference.>'] },
} as const satisfies Partial<Record<ServiceName, { name: string; subjects: readonly string[] }>>;

/** A service that publishes facts. */
export type PublisherName = keyof typeof streams;

/** The JetStream key-value bucket of credentials that died before they expired. Every service reads it. */
export const REVOCATIONS_BUCKET = 'revocations';

/** Services that write revocations, with the first part of the keys that each writes. */
export const revocationWriters = {
  auth: ['grant', 'session', 'app', 'account', 'keys'],
  'inference-gateway': ['key'],
} as const satisfies Partial<Record<ServiceName, readonly string[]>>;

/** Core NATS subjects over which the replicas of one service wake each other. */
export const replicaSignals = {
  auth: ['outbox_hint.auth', 'outbox_reconcile.auth'],
  billing: ['outbox_hint.billing', 'outbox_reconcile.billing'],
  'inference-gateway': ['outbox_hint.inference-gateway', 'outbox_reconcile.inference-gateway'],
  'webhook-dispatcher': ['lanes_due_hint.webhook-dispatcher'],
} as const satisfies Record<ServiceName, readonly string[]>;

/** A subject of `replicaSignals`. */
export type ReplicaSignal = (typeof replicaSignals)[ServiceName][number];

/** Seconds that a revocation is kept: the longest token's life (12 h) and an hour for clocks. */
export const REVOCATION_TTL_SECONDS = 13 * 3600;

/**
 * The value of an entry that revokes a range. `app.<client_id>`: every grant of the app up to this id is dead.
 * `account.<svc_user_id>`: every session of the account up to this id. `keys.<svc_user_id>`: every API key that a
 * session up to this id created.
 */
export const revokedThroughSchema = z.object({ revoked_through: z.string() });

import { z } from 'zod';
import type { ServiceName } from './route.ts';
import { timestampSchema } from './time.ts';

/** Name of a durable consumer: the consuming service, then its purpose. */
export type DurableName = `${ServiceName}_${string}`;

/** A kind of domain fact. Subject: `<service>.<aggregate>.<fact>.v<version>`. */
export interface EventDefinition {
  readonly subject: string;
  /** The only publisher. */
  readonly service: ServiceName;
  /** Durable consumers. The broker denies the fact to every other service. */
  readonly consumers: readonly DurableName[];
  readonly description: string;
  readonly schema: z.ZodObject;
}

/** Preserves an event's literal type, which types its publishers and consumers. */
export const defineEvent = <const E extends EventDefinition>(event: E): E => event;

/** Epoch of a database that was never restored, and default for facts of releases without epochs. */
export const FIRST_EPOCH = '00000000-0000-0000-0000-000000000000';

/** Envelope of every fact on the wire. */
export const eventEnvelopeSchema = z.object({
  id: z.uuid().meta({ description: 'UUIDv7; unchanged on redelivery.' }),
  subject: z.string(),
  aggregate: z.string().meta({ description: 'Entity that the fact is about, such as `app:app_…`.' }),
  version: z.int().min(1).meta({ description: 'Grows by one with each fact of the aggregate, within an epoch.' }),
  epoch: z
    .uuid()
    .default(FIRST_EPOCH)
    .meta({ description: "Epoch of the publisher's database. A restore starts a later one (UUIDv7)." }),
  occurred_at: timestampSchema,
  data: z.record(z.string(), z.unknown()),
});

export type EventEnvelope = z.infer<typeof eventEnvelopeSchema>;

/** JetStream streams: one per publishing service, holding its subjects. */
export const streams = {
  auth: { name: 'AUTH', subjects: ['auth.>'] },
  billing: { name: 'BILLING', subjects: ['billing.>'] },
  'inference-gateway': { name: 'INFERENCE', subjects: ['inference.>'] },
} as const satisfies Partial<Record<ServiceName, { name: string; subjects: readonly string[] }>>;

/** A service that publishes facts. */
export type PublisherName = keyof typeof streams;

/** JetStream key-value bucket of credentials revoked before they expire. Every service reads it. */
export const REVOCATIONS_BUCKET = 'revocations';

/** Services that write revocations, with the key prefix of each. */
export const revocationWriters = {
  auth: ['grant', 'session', 'app', 'account', 'keys', 'management_key', 'verified', 'lost', 'member'],
  'inference-gateway': ['key', 'key_version'],
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

/** Lifetime of a revocation: the longest token lifetime (12 h) and an hour for clock skew. */
export const REVOCATION_TTL_SECONDS = 13 * 3600;

/**
 * Value that revokes a range. `app.<client_id>`: every grant of the app up to this id. `account.<svc_user_id>`: every
 * session of the account up to this id. `keys.<svc_user_id>`: every API key created by a session up to this id.
 * `key_version.<key_id>`: every cached copy of the API key up to this version, formatted by `keyVersionText`. The key
 * stays valid.
 *
 * `lost.<range>`: every session and grant that a restored database forgot. The value is the range, so that each restore has
 * an entry apart. A look-up asks for all of them by `LOST_TOKENS_KEY`.
 *
 * `member.<membership_id>`: every token that names this version of a membership or an earlier one, formatted by
 * `keyVersionText`. The credential stays valid; its role is looked up.
 *
 * `verified.<svc_user_id>` has no value and revokes no credential: it voids the mark `email_unverified` of session tokens
 * signed before the address was confirmed.
 */
export const revokedThroughSchema = z.object({ revoked_through: z.string() });

/** Prefix of the keys of ranges of forgotten sessions and grants. */
export const LOST_PREFIX = 'lost.';

/** Stands for all ranges of forgotten sessions and grants in a look-up. */
export const LOST_TOKENS_KEY = `${LOST_PREFIX}tokens`;

/** Formats the times, as in ids, between which sessions and grants began that a restored database does not know. */
export const lostTokensText = (from: string, through: string): string => `${from}-${through}`;

/** Formats the version of an API key so that strings sort like numbers. */
export const keyVersionText = (version: number): string => String(version).padStart(10, '0');

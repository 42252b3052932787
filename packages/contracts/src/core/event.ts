import { z } from 'zod';
import type { ServiceName } from './route.ts';
import { timestampSchema } from './time.ts';

/** One kind of domain fact. Subject: `<service>.<aggregate>.<fact>.v<version>`. */
export interface EventDefinition {
  subject: string;
  service: ServiceName;
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

/** The JetStream key-value bucket of what was revoked before its time. */
export const REVOCATIONS_BUCKET = 'revocations';

/** Seconds that a revocation is kept: the longest token's life (12 h) and an hour for clocks. */
export const REVOCATION_TTL_SECONDS = 13 * 3600;

/**
 * The value of an entry that revokes a range. `app.<client_id>`: every grant of the app up to this id is dead.
 * `account.<svc_user_id>`: every session of the account up to this id. `keys.<svc_user_id>`: every API key that a
 * session up to this id created.
 */
export const revokedThroughSchema = z.object({ revoked_through: z.string() });

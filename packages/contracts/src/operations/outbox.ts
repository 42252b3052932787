import { z } from 'zod';
import { defineRoute, json } from '../core/route.ts';

/** The services that tell facts. */
export const publishingServices = ['auth', 'billing', 'inference-gateway'] as const;

/** A service that tells facts. */
export type PublishingService = (typeof publishingServices)[number];

/** How far the facts that a service tells have come. `null`: the broker cannot be asked, or has acknowledged nothing yet. */
export const outboxHealthSchema = z.object({
  broker_connected: z.boolean(),
  relay_leading: z.boolean(),
  oldest_unpublished_seconds: z.number(),
  streams: z.array(
    z.object({
      stream: z.string(),
      unpublished: z.int(),
      acknowledged_through: z.int().nullable(),
      stream_ends_at: z.int().nullable(),
      in_step: z.boolean().nullable(),
    }),
  ),
});

/** How far the facts that a service tells have come. */
export type OutboxHealth = z.infer<typeof outboxHealthSchema>;

const outboxOperationsOf = <const S extends PublishingService>(service: S) => {
  const common = {
    service,
    caller: 'service',
    callers: ['operator'],
    errorShape: 'detail',
    tag: 'Operations',
  } as const;
  const path = `/internal/operations/${service}/outbox` as const;
  return {
    getOutboxHealth: defineRoute({
      ...common,
      operationId: 'getOutboxHealth',
      method: 'GET',
      path,
      summary: 'What waits in the outbox, and whether its streams still have what they acknowledged',
      request: {},
      responses: { 200: json('The state.', outboxHealthSchema) },
      errors: [],
    }),
    reconcileOutbox: defineRoute({
      ...common,
      operationId: 'reconcileOutbox',
      method: 'POST',
      path: `${path}/reconcile`,
      summary: 'Have the leading relay compare the streams with the outbox now, and send again what they lost',
      request: {},
      responses: { 202: json('The relay has been told.', z.object({ status: z.literal('asked') })) },
      errors: [],
    }),
  } as const;
};

/** What an operator may ask a service about the facts that it tells. */
export type OutboxOperations = ReturnType<typeof outboxOperationsOf<PublishingService>>;

/** The operator's routes over each outbox. */
export const outboxOperations: Readonly<Record<PublishingService, OutboxOperations>> = {
  auth: outboxOperationsOf('auth'),
  billing: outboxOperationsOf('billing'),
  'inference-gateway': outboxOperationsOf('inference-gateway'),
};

import { z } from 'zod';
import { defineRoute, json } from '../core/route.ts';

/** Services that publish facts. */
export const publishingServices = ['auth', 'billing', 'inference-gateway'] as const;

export type PublishingService = (typeof publishingServices)[number];

/** Progress of a service's outbox. `null`: the broker cannot be reached or has acknowledged nothing yet. */
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
      bytes: z.int().nullable(),
      bytes_max: z.int().nullable(),
      in_step: z.boolean().nullable(),
    }),
  ),
});

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
      summary: 'Get the unpublished facts, and compare the streams with the acknowledged facts',
      request: {},
      responses: { 200: json('The state.', outboxHealthSchema) },
      errors: [],
    }),
    reconcileOutbox: defineRoute({
      ...common,
      operationId: 'reconcileOutbox',
      method: 'POST',
      path: `${path}/reconcile`,
      summary: 'Make the leading relay compare the streams with the outbox now and republish lost facts',
      request: {},
      responses: { 202: json('The relay has been notified.', z.object({ status: z.literal('asked') })) },
      errors: [],
    }),
  } as const;
};

/** Operator routes of a service's outbox. */
export type OutboxOperations = ReturnType<typeof outboxOperationsOf<PublishingService>>;

export const outboxOperations: Readonly<Record<PublishingService, OutboxOperations>> = {
  auth: outboxOperationsOf('auth'),
  billing: outboxOperationsOf('billing'),
  'inference-gateway': outboxOperationsOf('inference-gateway'),
};

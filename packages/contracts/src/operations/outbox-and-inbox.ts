import { z } from 'zod';
import { defineRoute, json, pageOf, pageQuery } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** Services that consume facts. */
export const consumingServices = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

export type ConsumingService = (typeof consumingServices)[number];

/** Progress of a consumer. `null`: the broker cannot be reached. */
export const consumerHealthSchema = z.object({
  consumer: z.string(),
  stream: z.string(),
  waiting: z.int().nullable(),
  unacknowledged: z.int().nullable(),
  redelivered: z.int().nullable(),
});

export type ConsumerHealth = z.infer<typeof consumerHealthSchema>;

/** A message that a consumer failed to handle, without its payload. */
export const deadLetterSchema = z.object({
  id: z.string(),
  consumer: z.string(),
  event_id: z.string().nullable(),
  subject: z.string(),
  stream: z.string(),
  stream_seq: z.int(),
  deliveries: z.int(),
  error_code: z.string(),
  created_at: timestampSchema,
});

export type DeadLetter = z.infer<typeof deadLetterSchema>;

/**
 * Outcome for a dead letter. `handled`: the effect is committed. `duplicate`, `stale`: its effect, or that of a newer
 * version, was already committed. `discarded`: dropped. `already_resolved`: an earlier command resolved it. `failed`:
 * nothing changed.
 */
export const deadLetterOutcomeSchema = z.object({
  id: z.string(),
  outcome: z.enum(['handled', 'duplicate', 'stale', 'discarded', 'already_resolved', 'failed']),
  error_code: z.string().nullable(),
});

export type DeadLetterOutcome = z.infer<typeof deadLetterOutcomeSchema>;

const letterParams = z.object({ id: z.string().regex(/^[1-9][0-9]{0,17}$/) });

const inboxOperationsOf = <const S extends ConsumingService>(service: S) => {
  const common = {
    service,
    caller: 'service',
    callers: ['operator'],
    errorShape: 'detail',
    tag: 'Operations',
  } as const;
  const path = `/internal/operations/${service}` as const;
  return {
    listConsumers: defineRoute({
      ...common,
      operationId: 'listConsumers',
      method: 'GET',
      path: `${path}/consumers`,
      summary: 'Get the progress of the consumers and the number of unresolved dead letters',
      request: {},
      responses: {
        200: json('The state.', z.object({ data: z.array(consumerHealthSchema), dead_letters: z.int() })),
      },
      errors: [],
    }),
    listDeadLetters: defineRoute({
      ...common,
      operationId: 'listDeadLetters',
      method: 'GET',
      path: `${path}/dead-letters`,
      summary: 'List unresolved dead letters, oldest first',
      request: { query: z.object({ ...pageQuery, after: letterParams.shape.id.optional() }) },
      responses: { 200: json('The dead letters.', pageOf(deadLetterSchema)) },
      errors: [],
    }),
    replayDeadLetter: defineRoute({
      ...common,
      operationId: 'replayDeadLetter',
      method: 'POST',
      path: `${path}/dead-letters/{id}/replay`,
      summary: 'Handle a dead letter again; its effect is applied exactly once',
      request: { params: letterParams },
      responses: { 200: json('The outcome.', deadLetterOutcomeSchema) },
      errors: ['not_found'],
    }),
    discardDeadLetter: defineRoute({
      ...common,
      operationId: 'discardDeadLetter',
      method: 'POST',
      path: `${path}/dead-letters/{id}/discard`,
      summary: 'Discard a dead letter',
      request: { params: letterParams },
      responses: { 200: json('The outcome.', deadLetterOutcomeSchema) },
      errors: ['not_found'],
    }),
  } as const;
};

/** Operator routes of a service's inbox. */
export type InboxOperations = ReturnType<typeof inboxOperationsOf<ConsumingService>>;

export const inboxOperations: Readonly<Record<ConsumingService, InboxOperations>> = {
  auth: inboxOperationsOf('auth'),
  billing: inboxOperationsOf('billing'),
  'inference-gateway': inboxOperationsOf('inference-gateway'),
  'webhook-dispatcher': inboxOperationsOf('webhook-dispatcher'),
};

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

import { z } from 'zod';
import { pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json } from '../core/route.ts';
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

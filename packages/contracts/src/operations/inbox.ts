import { z } from 'zod';
import { pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** The services that listen to facts. */
export const consumingServices = ['billing', 'inference-gateway', 'webhook-dispatcher'] as const;

/** A service that listens to facts. */
export type ConsumingService = (typeof consumingServices)[number];

/** How far a consumer has come; `null` where the broker cannot be asked. */
export const consumerHealthSchema = z.object({
  consumer: z.string(),
  stream: z.string(),
  waiting: z.int().nullable(),
  unacknowledged: z.int().nullable(),
  redelivered: z.int().nullable(),
});

/** How far a consumer has come. */
export type ConsumerHealth = z.infer<typeof consumerHealthSchema>;

/** A message that could not be handled, without its payload. */
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

/** A message that could not be handled, without its payload. */
export type DeadLetter = z.infer<typeof deadLetterSchema>;

/**
 * What became of a dead letter. `handled`: its effect has committed now. `duplicate`, `stale`: it had one already, or a newer
 * version has. `discarded`: given up. `already_resolved`: by an earlier command. `failed`: as before, and it stays.
 */
export const deadLetterOutcomeSchema = z.object({
  id: z.string(),
  outcome: z.enum(['handled', 'duplicate', 'stale', 'discarded', 'already_resolved', 'failed']),
  error_code: z.string().nullable(),
});

/** What became of a dead letter. */
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
      summary: 'How far the consumers have come, and how many dead letters nobody has resolved',
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
      summary: 'Messages that could not be handled and nobody has resolved, oldest first',
      request: { query: z.object({ ...pageQuery, after: letterParams.shape.id.optional() }) },
      responses: { 200: json('The dead letters.', pageOf(deadLetterSchema)) },
      errors: [],
    }),
    replayDeadLetter: defineRoute({
      ...common,
      operationId: 'replayDeadLetter',
      method: 'POST',
      path: `${path}/dead-letters/{id}/replay`,
      summary: 'Handle a dead letter again, with its effect exactly once',
      request: { params: letterParams },
      responses: { 200: json('What became of it.', deadLetterOutcomeSchema) },
      errors: ['not_found'],
    }),
    discardDeadLetter: defineRoute({
      ...common,
      operationId: 'discardDeadLetter',
      method: 'POST',
      path: `${path}/dead-letters/{id}/discard`,
      summary: 'Give a dead letter up',
      request: { params: letterParams },
      responses: { 200: json('What became of it.', deadLetterOutcomeSchema) },
      errors: ['not_found'],
    }),
  } as const;
};

/** What an operator may ask a service about the facts that it listens to. */
export type InboxOperations = ReturnType<typeof inboxOperationsOf<ConsumingService>>;

/** The operator's routes over each inbox. */
export const inboxOperations: Readonly<Record<ConsumingService, InboxOperations>> = {
  billing: inboxOperationsOf('billing'),
  'inference-gateway': inboxOperationsOf('inference-gateway'),
  'webhook-dispatcher': inboxOperationsOf('webhook-dispatcher'),
};

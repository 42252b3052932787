import { z } from 'zod';
import { defineRoute, json } from '../core/route.ts';
import { type ConsumingService, consumingServices } from './outbox-and-inbox.ts';

/** Stored values of one setting under one of its keys. */
export const storedUnderKeySchema = z.object({
  /** Environment variable that lists the keys. */
  setting: z.string(),
  /** Derived from the key. */
  key_id: z.string(),
  configured: z.boolean(),
  /** True for the first key of the list. */
  writes: z.boolean(),
  values: z.int(),
});

export type StoredUnderKey = z.infer<typeof storedUnderKeySchema>;

const operations = <const S extends ConsumingService>(service: S) =>
  ({ service, caller: 'service', callers: ['operator'], errorShape: 'detail', tag: 'Operations' }) as const;

const listOf = <const S extends ConsumingService>(service: S) =>
  defineRoute({
    ...operations(service),
    operationId: 'listSecretKeys',
    method: 'GET',
    path: `/internal/operations/${service}/secrets`,
    summary: 'List the keys of each secret, with the number of values that are stored under each',
    request: {},
    responses: { 200: json('The keys.', z.object({ data: z.array(storedUnderKeySchema) })) },
    errors: [],
  });

const reencryptOf = <const S extends ConsumingService>(service: S) =>
  defineRoute({
    ...operations(service),
    operationId: 'reencrypt',
    method: 'POST',
    path: `/internal/operations/${service}/secrets/reencrypt`,
    summary: 'Move stored values to the first key of each secret, for at most 20 seconds',
    request: {},
    responses: {
      200: json(
        'The number of moved values. `done` is false if values are left: call again.',
        z.object({ reencrypted: z.int(), done: z.boolean() }),
      ),
    },
    errors: [],
  });

const forEach = <T>(routeOf: (service: ConsumingService) => T): Readonly<Record<ConsumingService, T>> =>
  Object.fromEntries(consumingServices.map((service) => [service, routeOf(service)])) as Readonly<
    Record<ConsumingService, T>
  >;

/** Operator routes over the secrets of each service that stores anything. */
export const secretOperations = { list: forEach(listOf), reencrypt: forEach(reencryptOf) } as const;

import { z } from 'zod';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { type ConsumingService, consumingServices } from './inbox.ts';

/** Outcome of `after-restore`. A repeated call for the same moment continues the same epoch. */
export const afterRestoreSchema = z.object({
  /** Null for a service that publishes no facts. */
  epoch: z.uuid().nullable(),
  began_at: timestampSchema.nullable(),
  /** Subscriptions and payments that the payment provider reports since the restored moment. */
  reconciled: z.int(),
  /** Aggregates whose current state this call announced. */
  announced: z.int(),
  /** Messages that the consumers read again. They ignore those that the restored database knows. */
  read_again: z.int(),
});

export type AfterRestore = z.infer<typeof afterRestoreSchema>;

const afterRestoreOf = <const S extends ConsumingService>(service: S) =>
  defineRoute({
    service,
    caller: 'service',
    callers: ['operator'],
    errorShape: 'detail',
    tag: 'Operations',
    operationId: 'afterRestore',
    method: 'POST',
    path: `/internal/operations/${service}/after-restore`,
    summary:
      'After the database was restored to an earlier moment: start a new epoch, announce the current state, and read the kept facts again',
    request: { body: jsonBody(z.strictObject({ restored_to: timestampSchema })) },
    responses: { 200: json('The new epoch.', afterRestoreSchema) },
    errors: [],
  });

/** Operator route to call after a restore, for each service. */
export const restoreOperations = Object.fromEntries(
  consumingServices.map((service) => [service, afterRestoreOf(service)]),
) as Readonly<Record<ConsumingService, ReturnType<typeof afterRestoreOf<ConsumingService>>>>;

import { z } from 'zod';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { type PublishingService, publishingServices } from './outbox.ts';

/** Outcome of `after-restore`. A repeated call for the same moment continues the same epoch. */
export const afterRestoreSchema = z.object({
  epoch: z.uuid(),
  began_at: timestampSchema,
  /** Subscriptions and payments that the payment provider reports since the restored moment. */
  reconciled: z.int(),
  /** Aggregates whose current state this call announced. */
  announced: z.int(),
});

export type AfterRestore = z.infer<typeof afterRestoreSchema>;

const afterRestoreOf = <const S extends PublishingService>(service: S) =>
  defineRoute({
    service,
    caller: 'service',
    callers: ['operator'],
    errorShape: 'detail',
    tag: 'Operations',
    operationId: 'afterRestore',
    method: 'POST',
    path: `/internal/operations/${service}/after-restore`,
    summary: 'Start a new epoch after the database was restored to an earlier moment, and announce the current state',
    request: { body: jsonBody(z.strictObject({ restored_to: timestampSchema })) },
    responses: { 200: json('The new epoch.', afterRestoreSchema) },
    errors: [],
  });

/** Operator route to call after a restore, for each service that publishes facts. */
export const restoreOperations = Object.fromEntries(
  publishingServices.map((service) => [service, afterRestoreOf(service)]),
) as Readonly<Record<PublishingService, ReturnType<typeof afterRestoreOf<PublishingService>>>>;

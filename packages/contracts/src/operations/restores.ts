import { z } from 'zod';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { type PublishingService, publishingServices } from './outbox.ts';

/** Outcome of `after-restore`. Running it again for the same moment continues the same epoch. */
export const afterRestoreSchema = z.object({
  epoch: z.uuid(),
  began_at: timestampSchema,
  /** Subscriptions and payments that the payment provider reported since the restored moment. */
  reconciled: z.int(),
  /** Aggregates whose present state was announced by this run. */
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
    summary: 'Begin a new epoch after the database was restored to an earlier moment, and announce the present state',
    request: { body: jsonBody(z.strictObject({ restored_to: timestampSchema })) },
    responses: { 200: json('The epoch that began.', afterRestoreSchema) },
    errors: [],
  });

/** Operator route that follows a restore, for each service that publishes facts. */
export const restoreOperations = Object.fromEntries(
  publishingServices.map((service) => [service, afterRestoreOf(service)]),
) as Readonly<Record<PublishingService, ReturnType<typeof afterRestoreOf<PublishingService>>>>;

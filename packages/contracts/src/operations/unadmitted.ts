import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, pageOf, pageQuery } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** Usage of a request that billing never admitted, such as one that a restored database forgot. */
export const unadmittedUsageSchema = z.object({
  request_id: idSchema('req'),
  kind: z.enum(['delegated', 'api_key']),
  svc_user_id: idSchema('usr'),
  key_id: idSchema('key').nullable(),
  client_id: idSchema('app').nullable(),
  cost_micros: nonNegativeMicrosSchema,
  finished_at: timestampSchema,
  received_at: timestampSchema,
});

export type UnadmittedUsage = z.infer<typeof unadmittedUsageSchema>;

const operations = {
  service: 'billing',
  caller: 'service',
  callers: ['operator'],
  errorShape: 'detail',
  tag: 'Operations',
  path: '/internal/operations/billing/unadmitted-usage',
} as const;

/** Operator routes over unadmitted usage. */
export const unadmittedOperations = {
  list: defineRoute({
    ...operations,
    operationId: 'listUnadmittedUsage',
    method: 'GET',
    summary: 'List usage of requests that were never admitted',
    request: { query: z.object({ ...pageQuery, since: timestampSchema.optional() }) },
    responses: { 200: json('The usage.', pageOf(unadmittedUsageSchema)) },
    errors: [],
  }),
  resolve: defineRoute({
    ...operations,
    operationId: 'resolveUnadmittedUsage',
    method: 'POST',
    summary: 'Charge up to 500 requests to the wallets of their API keys, or discard them',
    request: {
      body: jsonBody(z.strictObject({ action: z.enum(['charge', 'discard']), since: timestampSchema.nullable() })),
    },
    responses: {
      200: json(
        'What was done. Requests of plans are discarded in any case. `uncovered_micros` is the cost that wallets did not cover.',
        z.object({
          charged: z.int(),
          charged_micros: z.int(),
          uncovered_micros: z.int(),
          discarded: z.int(),
          has_more: z.boolean(),
        }),
      ),
    },
    errors: [],
  }),
} as const;

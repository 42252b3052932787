import { z } from 'zod';
import { defineEvent } from '../core/event.ts';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { usageFactSchema } from './usage-records.ts';

const appActivitySchema = z.object({
  client_id: clientIdSchema,
  day: z.iso.date(),
  requests: z.int().min(1),
  errors: z.int().min(0),
});

/** Facts published by the inference gateway. */
export const inferenceGatewayEvents = {
  usageRecorded: defineEvent({
    subject: 'inference.usage.recorded.v1',
    service: 'inference-gateway',
    consumers: ['billing_usage'],
    description: 'Requests have ended. One fact carries many. Aggregate: `usage:<id of the batch>`, version 1.',
    schema: z.object({ records: z.array(usageFactSchema).min(1).max(500) }),
  }),
  keyCreated: defineEvent({
    subject: 'inference.key.created.v1',
    service: 'inference-gateway',
    consumers: ['auth_key-notices', 'webhook-dispatcher_key-events'],
    description: 'An API key was created. Aggregate: `key:<key_id>`, version 1.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      key_id: idSchema('key'),
      name: z.string(),
      prefix: z.string().meta({ description: 'First characters of the key, as lists show them.' }),
      created_at: timestampSchema,
    }),
  }),
  keyLimitReached: defineEvent({
    subject: 'inference.key.limit_reached.v1',
    service: 'inference-gateway',
    consumers: ['webhook-dispatcher_key-events'],
    description:
      'A request was refused because of its key’s monthly limit, for the first time in the month. Each fact has its own aggregate.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      key_id: idSchema('key'),
      name: z.string(),
      spent_micros: nonNegativeMicrosSchema.meta({ description: 'Use in the month, without running requests.' }),
      limit_micros: nonNegativeMicrosSchema,
      resets_at: timestampSchema,
    }),
  }),
  appActivity: defineEvent({
    subject: 'inference.app.activity.v1',
    service: 'inference-gateway',
    consumers: ['webhook-dispatcher_activity'],
    description:
      'Delegated requests answered by a process since its last fact, counted by app and UTC day. Aggregate: `activity:<id of the batch>`, version 1.',
    schema: z.object({ counts: z.array(appActivitySchema).min(1).max(500) }),
  }),
} as const;

import { z } from 'zod';
import { defineEvent } from '../core/event.ts';
import { idSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';
import { usageFactSchema } from './usage-records.ts';

const appActivitySchema = z.object({
  client_id: idSchema('app'),
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
    consumers: ['auth_key-notices'],
    description: 'An API key was created. Aggregate: `key:<key_id>`, version 1.',
    schema: z.object({ svc_user_id: idSchema('usr'), key_id: idSchema('key'), created_at: timestampSchema }),
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

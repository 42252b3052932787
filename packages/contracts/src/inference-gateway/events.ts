import { z } from 'zod';
import { defineEvent } from '../core/event.ts';
import { usageFactSchema } from './usage-records.ts';

/** Facts published by the inference gateway. */
export const inferenceGatewayEvents = {
  usageRecorded: defineEvent({
    subject: 'inference.usage.recorded.v1',
    service: 'inference-gateway',
    consumers: ['billing_usage'],
    description: 'Requests have ended. One message carries many. Aggregate: `usage:<id of the batch>`, version 1.',
    schema: z.object({ records: z.array(usageFactSchema).min(1).max(500) }),
  }),
} as const;

import { z } from 'zod';

/** Days per query. */
export const ANALYTICS_DAYS_MAX = 366;

/** Query of an app's analytics: UTC days, both included. */
export const analyticsQuerySchema = z.object({
  from: z.iso.date().optional().meta({ description: 'First UTC day. Default: 29 days before `to`.' }),
  to: z.iso.date().optional().meta({ description: 'Last UTC day. Default: today.' }),
});

const countSchema = z.int().min(0);

/** Counts of an app for one UTC day, without personal data. */
export const appDaySchema = z
  .object({
    day: z.iso.date(),
    connections: countSchema.meta({ description: 'New connections.' }),
    requests: countSchema.meta({ description: 'Inference requests, refused ones included.' }),
    errors: countSchema.meta({ description: 'Requests that did not end in 2xx.' }),
    deliveries: countSchema.meta({ description: 'Attempts to deliver webhooks.' }),
    deliveries_failed: countSchema.meta({ description: 'Attempts that the receiver did not accept.' }),
  })
  .meta({ id: 'AppDay' });

export type AppDay = z.infer<typeof appDaySchema>;

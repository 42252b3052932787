import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';

/** A user's standing connection to an app. */
export const connectionSchema = z
  .object({
    client_id: idSchema('app'),
    app: z.object({ name: z.string(), icon_url: z.string(), homepage_url: z.string().nullable() }),
    scope: z.string(),
    connected_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
  })
  .meta({ id: 'Connection' });

/** A user's standing connection to an app. */
export type Connection = z.infer<typeof connectionSchema>;

/** Why a connection ended. */
export const revocationReasonSchema = z.enum(['user_disconnected', 'app_suspended']);

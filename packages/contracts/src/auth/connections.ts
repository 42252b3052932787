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

/** What can happen to a connection. */
export const connectionActionSchema = z.enum([
  'connected',
  'consented_again',
  'disconnected',
  'app_suspended',
  'token_reused',
  'revoked_by_app',
]);

/** What asked for it: the authorize pages in a browser, a console session, the app itself, or we. */
export const clientKindSchema = z.enum(['browser', 'console', 'app', 'service']);

/** One thing that happened to a connection. `network` is where from, no finer than /24 or /48. */
export const connectionAuditEntrySchema = z
  .object({
    id: idSchema('aud'),
    action: connectionActionSchema,
    scope: z.string().nullable(),
    network: z.string().nullable(),
    client_kind: clientKindSchema,
    happened_at: timestampSchema,
  })
  .meta({ id: 'ConnectionAuditEntry' });

/** One thing that happened to a connection. */
export type ConnectionAuditEntry = z.infer<typeof connectionAuditEntrySchema>;

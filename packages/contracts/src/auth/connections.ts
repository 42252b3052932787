import { z } from 'zod';
import { appBudgetSchema, appTermsChangeSchema } from '../billing/app-budgets.ts';
import { clientIdSchema, idSchema, pathClientIdSchema, pathIdSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';

/** A user's connection to an app. */
export const connectionSchema = z
  .object({
    client_id: clientIdSchema,
    app: z.object({ name: z.string(), icon_url: z.string(), homepage_url: z.string().nullable() }),
    scope: z.string(),
    connected_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
    budget: appBudgetSchema.nullable(),
    paused: z.boolean(),
  })
  .meta({ id: 'Connection' });

export type Connection = z.infer<typeof connectionSchema>;

/** A connection that has ended. Its audit trail says how. */
export const endedConnectionSchema = connectionSchema
  .pick({ client_id: true, app: true, connected_at: true, last_used_at: true })
  .extend({ ended_at: timestampSchema })
  .meta({ id: 'EndedConnection' });

export type EndedConnection = z.infer<typeof endedConnectionSchema>;

/** A grant of a connection: what one consent has given to one device or browser. */
export const grantSchema = z
  .object({
    id: idSchema('grt'),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
    scope: z.string(),
    device_name: z
      .string()
      .nullable()
      .meta({ description: 'Name that the device gave when it asked; null for a consent in a browser.' }),
  })
  .meta({ id: 'Grant' });

export type Grant = z.infer<typeof grantSchema>;

/** `{client_id}` and `{grant_id}` in a path. */
export const grantParams = z.object({ client_id: pathClientIdSchema, grant_id: pathIdSchema });

/** Change of a connection: its budget (null removes it) and its pause. Absent fields stay unchanged. */
export const updateConnectionRequestSchema = appTermsChangeSchema.strict().meta({ id: 'UpdateConnectionRequest' });

export const revocationReasonSchema = z.enum(['user_disconnected', 'app_suspended']);

export const connectionActionSchema = z.enum([
  'connected',
  'consented_again',
  'disconnected',
  'app_suspended',
  'token_reused',
  'revoked_by_app',
  'grant_ended',
  'limit_changed',
  'paused',
  'resumed',
]);

/** Origin of an action: the authorize pages, a console session, the app itself, or the service. */
export const clientKindSchema = z.enum(['browser', 'console', 'app', 'service']);

/** Entry in the audit trail of a connection. `network` is a /24 or /48 prefix. */
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

export type ConnectionAuditEntry = z.infer<typeof connectionAuditEntrySchema>;

import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { URL_CHARACTERS_MAX } from '../core/limits.ts';
import { timestampSchema } from '../core/time.ts';

/** Destination of a webhook. The dispatcher checks it on configuration and again at each attempt. */
export const configureWebhookRequestSchema = z
  .strictObject({ url: z.string().min(1).max(URL_CHARACTERS_MAX) })
  .meta({ id: 'WebhookConfigurationRequest' });

const configurationMembers = {
  url: z.string(),
  generation: z.int().min(1),
  created_at: timestampSchema,
  state: z.enum(['ok', 'blocked']),
  blocked_by_event_id: idSchema('evt').nullable(),
  paused_at: timestampSchema.nullable().meta({
    description:
      'Since then events that have waited for 90 days are given up, because the webhook is blocked for long.',
  }),
};

export const webhookConfigurationSchema = z
  .object({ client_id: idSchema('app'), ...configurationMembers })
  .meta({ id: 'WebhookConfiguration' });

export type WebhookConfiguration = z.infer<typeof webhookConfigurationSchema>;

/** The new configuration. Its signing secret is shown only once. */
export const webhookConfiguredSchema = webhookConfigurationSchema
  .extend({ signing_secret: z.string() })
  .meta({ id: 'WebhookConfigured' });

/** The webhook of an account. */
export const accountWebhookSchema = z
  .object({ account_id: idSchema('usr'), ...configurationMembers })
  .meta({ id: 'AccountWebhook' });

export type AccountWebhook = z.infer<typeof accountWebhookSchema>;

/** The new configuration. Its signing secret is shown only once. */
export const accountWebhookConfiguredSchema = accountWebhookSchema
  .extend({ signing_secret: z.string() })
  .meta({ id: 'AccountWebhookConfigured' });

export const rotateWebhookSecretRequestSchema = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(604_800).default(86_400).meta({
      description: 'Seconds for which deliveries are also signed with the previous secret.',
    }),
  })
  .meta({ id: 'WebhookSecretRotation' });

/** The new secret. It is shown only once. */
export const webhookSecretRotatedSchema = z
  .object({ signing_secret: z.string(), previous_expires_at: timestampSchema })
  .meta({ id: 'WebhookSecretRotated' });

/** `{client_id}` and `{event_id}` in a path. */
export const webhookEventParams = z.object({ client_id: pathIdSchema, event_id: pathIdSchema });

/** `{event_id}` in a path. */
export const accountEventParams = z.object({ event_id: pathIdSchema });

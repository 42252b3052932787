import { parseAllowTargets } from '@svc/destinations';
import { secretKeysSetting } from '@svc/secrets';
import { commonSettings, setting, whenValid } from '@svc/service-kit';
import { z } from 'zod';

/** Environment of the service. `main.ts` parses it once. */
export const configSchema = z
  .object({
    ...commonSettings,
    AUTH_INTERNAL_URL: setting.url({
      description: "Auth's internal listener: owners of apps, the signing keys, and revocations while NATS is silent.",
    }),
    JWKS_URL: setting.url({
      description: 'Address of the signing keys; by default the public path below AUTH_INTERNAL_URL.',
      optional: true,
    }),
    BILLING_INTERNAL_URL: setting.url({
      description: "Billing's internal listener: a user's subscription at the time of a connection.",
    }),
    WEBHOOK_ENCRYPTION_KEY: secretKeysSetting({ description: 'Encrypts signing secrets at rest.' }),
    WEBHOOK_ALLOW_TARGETS: setting.list({
      description: 'Receivers, as `host:port`, that may have private addresses; for local and on-premises receivers.',
      default: [],
    }),
    WEBHOOK_EXTRA_CA_FILE: setting.certificateFile({
      description: 'PEM file with certificate authorities that are trusted beside the system ones.',
      optional: true,
    }),
    WEBHOOK_BACKOFF_BASE_MS: setting.integer({
      description: 'Milliseconds from the first failed attempt to the second; each further step is four times as long.',
      min: 1,
      max: 3_600_000,
      default: 5_000,
    }),
    WEBHOOK_SLOTS: setting.integer({
      description:
        'Concurrent attempts in one process at receivers that answer soon; slow and unknown receivers have separate slots.',
      min: 1,
      max: 2_000,
      default: 256,
    }),
    WEBHOOK_EVENT_RETENTION_DAYS: setting.integer({
      description: 'Days after which delivered, skipped and cancelled events are deleted; open ones stay.',
      min: 1,
      max: 3_650,
      default: 30,
    }),
    DATABASE_POOL_MAX: setting.integer({
      description: 'Maximum number of database connections of one process.',
      min: 4,
      max: 100,
      default: 12,
    }),
  })
  .superRefine((config, context) => {
    try {
      parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS);
    } catch (error) {
      // The parser throws TypeErrors with our own texts.
      const message = error instanceof Error ? error.message : '';
      context.addIssue({ code: 'custom', path: ['WEBHOOK_ALLOW_TARGETS'], message });
    }
  }, whenValid('WEBHOOK_ALLOW_TARGETS'));

export type Config = z.infer<typeof configSchema>;

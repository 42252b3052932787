import { callingSettings, commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';
import { parseAllowTargets } from './destinations/index.ts';
import { parseEncryptionKeys } from './signatures/index.ts';

/** Environment of the webhook dispatcher; parsed once, in `main.ts`. */
export const configSchema = z
  .object({
    ...commonSettings,
    ...callingSettings,
    AUTH_INTERNAL_URL: setting.url({
      description: "Auth's internal listener: who owns an app, and the signing keys of tokens.",
    }),
    JWKS_URL: setting.url({
      description: 'Where the signing keys are read; by default at the public path below AUTH_INTERNAL_URL.',
      optional: true,
    }),
    BILLING_INTERNAL_URL: setting.url({
      description: "Billing's internal listener: a user's subscription at the time of a connection.",
    }),
    WEBHOOK_ENCRYPTION_KEY: setting.list({
      description:
        'Encrypts signing secrets at rest: `[id:]key` with 32 bytes in hex or base64. Of several, the first encrypts and each decrypts; `svc signing-secrets reencrypt` puts every secret under the first.',
      itemsMin: 1,
      secret: true,
    }),
    WEBHOOK_ALLOW_TARGETS: setting.list({
      description:
        'Receivers, as `host:port`, whose addresses need not be public; for local and on-premises receivers.',
      default: [],
    }),
    WEBHOOK_EXTRA_CA_FILE: setting.string({
      description: 'PEM file with authorities that are trusted beside the usual ones.',
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
        'Attempts at one time in one process at receivers that answer soon; slow and unknown ones have places of their own.',
      min: 1,
      max: 2_000,
      default: 256,
    }),
    WEBHOOK_EVENT_RETENTION_DAYS: setting.integer({
      description: 'Days after which delivered, skipped and cancelled events are forgotten; open ones stay.',
      min: 1,
      max: 3_650,
      default: 30,
    }),
    DATABASE_POOL_MAX: setting.integer({
      description: 'Most connections to the database from one process.',
      min: 4,
      max: 100,
      default: 12,
    }),
  })
  .superRefine((config, context) => {
    const check = (name: string, parse: () => unknown) => {
      try {
        parse();
      } catch (error) {
        // Both parsers throw TypeErrors whose texts are ours.
        context.addIssue({ code: 'custom', path: [name], message: error instanceof Error ? error.message : '' });
      }
    };
    check('WEBHOOK_ENCRYPTION_KEY', () => parseEncryptionKeys(config.WEBHOOK_ENCRYPTION_KEY));
    check('WEBHOOK_ALLOW_TARGETS', () => parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS));
  });

/** Configuration of the webhook dispatcher. */
export type Config = z.infer<typeof configSchema>;

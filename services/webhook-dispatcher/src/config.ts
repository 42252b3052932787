import { parseAllowTargets } from '@svc/destinations';
import { callingSettings, commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';
import { parseEncryptionKeys } from './signatures/index.ts';

/** Environment of the service. `main.ts` parses it once. */
export const configSchema = z
  .object({
    ...commonSettings,
    ...callingSettings,
    AUTH_INTERNAL_URL: setting.url({
      description: "Auth's internal listener: owners of apps, and the signing keys of tokens.",
    }),
    JWKS_URL: setting.url({
      description: 'Address of the signing keys; by default the public path below AUTH_INTERNAL_URL.',
      optional: true,
    }),
    BILLING_INTERNAL_URL: setting.url({
      description: "Billing's internal listener: a user's subscription at the time of a connection.",
    }),
    WEBHOOK_ENCRYPTION_KEY: setting.list({
      description:
        'Encrypts signing secrets at rest: `[id:]key` with 32 bytes in hex or base64. The first key encrypts, each one decrypts; `svc signing-secrets reencrypt` encrypts every secret with the first.',
      itemsMin: 1,
      secret: true,
    }),
    WEBHOOK_ALLOW_TARGETS: setting.list({
      description: 'Receivers, as `host:port`, that may have private addresses; for local and on-premises receivers.',
      default: [],
    }),
    WEBHOOK_EXTRA_CA_FILE: setting.string({
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
    const check = (name: string, parse: () => unknown) => {
      try {
        parse();
      } catch (error) {
        // Both parsers throw TypeErrors with our own texts.
        context.addIssue({ code: 'custom', path: [name], message: error instanceof Error ? error.message : '' });
      }
    };
    check('WEBHOOK_ENCRYPTION_KEY', () => parseEncryptionKeys(config.WEBHOOK_ENCRYPTION_KEY));
    check('WEBHOOK_ALLOW_TARGETS', () => parseAllowTargets(config.WEBHOOK_ALLOW_TARGETS));
  });

export type Config = z.infer<typeof configSchema>;

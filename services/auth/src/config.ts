import { commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

/** Environment of the auth service; parsed once, in `main.ts`. */
export const configSchema = z.object({
  ...commonSettings,
  AUTH_ENCRYPTION_KEY: setting.string({
    description:
      'Encrypts signing keys at rest and signs the forms of the authorize pages. The same for all replicas; losing it makes new signing keys necessary.',
    pattern: /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/,
    expected: '32 random bytes in hex or base64',
    secret: true,
  }),
  DATABASE_POOL_MAX: setting.integer({
    description: 'Most connections to the database from one process.',
    min: 2,
    max: 100,
    default: 10,
  }),
  PASSWORD_HASH_CONCURRENCY: setting.integer({
    description: 'Password hashes that run at one time; each takes 19 MiB and a thread.',
    min: 1,
    max: 16,
    default: 2,
  }),
  SIGNING_KEY_ROTATION_DAYS: setting.integer({
    description: 'Days after which the next signing key takes over.',
    min: 1,
    max: 365,
    default: 90,
  }),
});

/** Configuration of the auth service. */
export type Config = z.infer<typeof configSchema>;

import { callingSettings, commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';
import type { MailTransportOptions } from './mail/index.ts';
import type { SsoSettings } from './sso/index.ts';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Environment of the auth service; parsed once, in `main.ts`. */
export const configSchema = z
  .object({
    ...commonSettings,
    ...callingSettings,
    BILLING_CURRENCY: setting.string({
      description: 'Currency of plans and budgets, as billing has it.',
      pattern: /^[A-Z]{3}$/,
      expected: 'an ISO 4217 code in upper case',
      default: 'EUR',
    }),
    BILLING_INTERNAL_URL: setting.url({
      description: "Billing's internal listener: budgets and pauses of connections.",
    }),
    INFERENCE_GATEWAY_INTERNAL_URL: setting.url({
      description: "The gateway's internal listener: what it holds about a person, for an export.",
    }),
    WEBHOOK_DISPATCHER_INTERNAL_URL: setting.url({
      description: "The dispatcher's internal listener: what it holds about a person, for an export.",
    }),
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
      description:
        'Passwords that are checked at one time at sign-in; each takes 19 MiB and a thread. Sign-ups hash one more.',
      min: 1,
      max: 16,
      default: 2,
    }),
    SIGN_UPS_PER_SOURCE_PER_HOUR: setting.integer({
      description: 'Accounts that one network address (of IPv6, one /64) may open within an hour.',
      min: 1,
      max: 1_000_000,
      default: 60,
    }),
    MAIL_URL: setting.url({
      description: 'Mail server that takes all mail, with credentials if it wants them; smtps for TLS from the start.',
      protocols: ['smtp', 'smtps'],
      secret: true,
    }),
    MAIL_FROM: setting.string({
      description:
        'Sender of all mail, such as `svc <no-reply@example.com>`. Unset: no-reply at the host of PUBLIC_BASE_URL.',
      pattern: /^[^\r\n]*[^\s@]+@[^\s@]+$/,
      expected: 'an address, with or without a name before it',
      optional: true,
    }),
    EMAIL_VERIFICATION: setting.choice({
      description:
        'Whether an account must confirm its address before it registers apps, creates keys, approves consents or pays.',
      values: ['required', 'optional'],
      default: 'required',
    }),
    ERASURE_DELAY_DAYS: setting.integer({
      description: 'Days between the request to delete an account and its erasure, in which the owner can cancel.',
      min: 0,
      max: 365,
      default: 7,
    }),
    NODE_ENV: setting.string({
      description: 'With `production`, PUBLISHER_PROOFS cannot be `sandbox`.',
      optional: true,
    }),
    PUBLISHER_PROOFS: setting.choice({
      description:
        'Where publishers prove their domains. `public`: in DNS or in a file of the domain. `sandbox`: domains below `.example` count as proven, too, except those that begin with `unproven.`.',
      values: ['public', 'sandbox'],
      default: 'public',
    }),
    SESSION_IDLE_SECONDS: setting.integer({
      description: 'Time without use after which a console session ends; at most as long as a session lives.',
      min: 1,
      max: 43_200,
      default: 43_200,
    }),
    SIGNING_KEY_ROTATION_DAYS: setting.integer({
      description: 'Days after which the next signing key takes over.',
      min: 1,
      max: 365,
      default: 90,
    }),
    SSO_ISSUER: setting.string({
      description:
        'Issuer of the OpenID provider that people may sign in with, exactly as it names itself. Unset: none.',
      pattern: /^https?:\/\/\S+$/,
      expected: 'an https URL, or http on loopback',
      optional: true,
    }),
    SSO_CLIENT_ID: setting.string({ description: 'Our client id at the OpenID provider.', optional: true }),
    SSO_CLIENT_SECRET: setting.string({
      description: 'Our client secret at the OpenID provider.',
      optional: true,
      secret: true,
    }),
    SSO_NAME: setting.string({
      description: 'What people call the OpenID provider, on sign-in pages: the name of an organization, say.',
      optional: true,
    }),
  })
  .superRefine((config, context) => {
    if (config.NODE_ENV === 'production' && config.PUBLISHER_PROOFS === 'sandbox') {
      context.addIssue({ code: 'custom', path: ['PUBLISHER_PROOFS'], message: 'must not be sandbox in production' });
    }
    const names = ['SSO_ISSUER', 'SSO_CLIENT_ID', 'SSO_CLIENT_SECRET'] as const;
    const missing = names.filter((name) => config[name] === undefined);
    if (missing.length < names.length) {
      for (const name of missing) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `is not set; single sign-on wants ${names.join(', ')}`,
        });
      }
    }
    const issuer = URL.parse(config.SSO_ISSUER ?? '');
    if (issuer?.protocol === 'http:' && !LOOPBACK.test(issuer.hostname)) {
      context.addIssue({ code: 'custom', path: ['SSO_ISSUER'], message: 'expected https, or http on loopback' });
    }
  });

/** Configuration of the auth service. */
export type Config = z.infer<typeof configSchema>;

/** Returns the settings of single sign-on, if it is configured. */
export const ssoSettings = (config: Config): SsoSettings | undefined => {
  const { SSO_ISSUER: issuer, SSO_CLIENT_ID: clientId, SSO_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, name: config.SSO_NAME };
};

/** Returns the settings of the mail transport. */
export const mailSettings = (config: Config): MailTransportOptions => {
  const { hostname: host } = new URL(config.PUBLIC_BASE_URL);
  return { url: config.MAIL_URL, from: config.MAIL_FROM ?? `svc <no-reply@${host}>`, host };
};

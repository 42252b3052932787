import { PAYABLE_CURRENCY } from '@svc/contracts';
import { secretKeysSetting } from '@svc/secrets';
import { commonSettings, setting, whenValid } from '@svc/service-kit';
import { z } from 'zod';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const SSO_NAMES = ['SSO_ISSUER', 'SSO_CLIENT_ID', 'SSO_CLIENT_SECRET'] as const;

/** Environment of the auth service; parsed once, in `main.ts`. */
export const configSchema = z
  .object({
    ...commonSettings,
    BILLING_CURRENCY: setting.string({
      description: 'Currency of plans and budgets, as billing has it.',
      pattern: PAYABLE_CURRENCY,
      expected: 'the ISO 4217 code of a currency that Stripe charges, in upper case',
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
    AUTH_ENCRYPTION_KEY: secretKeysSetting({
      description:
        'Encrypts signing keys, second factors and waiting mails at rest, and signs the forms of the authorize pages. The same for all replicas.',
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
    TERMS_URL: setting.url({
      description: 'Terms of service, which the public pages and the sign-up form link to.',
      optional: true,
    }),
    PRIVACY_URL: setting.url({
      description: 'Privacy policy, which the public pages and the sign-up form link to.',
      optional: true,
    }),
    SECURITY_CONTACT: setting.string({
      description:
        'Where to report a vulnerability: a `mailto:` or `https:` address for `/.well-known/security.txt` (RFC 9116). Unset: that address is unknown.',
      pattern: /^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/,
      expected: 'a mailto or https address',
      optional: true,
    }),
    ERASURE_DELAY_DAYS: setting.integer({
      description: 'Days between the request to delete an account and its erasure, in which the owner can cancel.',
      min: 0,
      max: 365,
      default: 7,
    }),
    CLIENT_ID_METADATA: setting.choice({
      description:
        'Whether apps that no business registered may ask, with the https address of their metadata document as client id.',
      values: ['on', 'off'],
      default: 'on',
    }),
    WEBHOOK_ALLOW_TARGETS: setting.list({
      description: 'Hosts of client metadata documents, as `host:port`, that may have private addresses.',
      default: [],
    }),
    WEBHOOK_EXTRA_CA_FILE: setting.certificateFile({
      description: 'PEM file with certificate authorities that are trusted beside the system ones.',
      optional: true,
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
  .superRefine(
    (config, context) => {
      if (config.NODE_ENV !== 'production' || config.PUBLISHER_PROOFS !== 'sandbox') return;
      context.addIssue({ code: 'custom', path: ['PUBLISHER_PROOFS'], message: 'must not be sandbox in production' });
    },
    whenValid('NODE_ENV', 'PUBLISHER_PROOFS'),
  )
  .superRefine(
    (config, context) => {
      const missing = SSO_NAMES.filter((name) => config[name] === undefined);
      if (missing.length === SSO_NAMES.length) return;
      const message = `is not set; single sign-on wants ${SSO_NAMES.join(', ')}`;
      for (const name of missing) context.addIssue({ code: 'custom', path: [name], message });
    },
    whenValid(...SSO_NAMES),
  )
  .superRefine((config, context) => {
    const issuer = URL.parse(config.SSO_ISSUER ?? '');
    if (issuer?.protocol !== 'http:' || LOOPBACK.test(issuer.hostname)) return;
    context.addIssue({ code: 'custom', path: ['SSO_ISSUER'], message: 'expected https, or http on loopback' });
  }, whenValid('SSO_ISSUER'));

/** Configuration of the auth service. */
export type Config = z.infer<typeof configSchema>;

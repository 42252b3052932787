import { PAYABLE_CURRENCY } from '@svc/contracts';
import { secretKeysSetting } from '@svc/secrets';
import { commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

const DAY_MS = 86_400_000;

/** Settings from the environment. The keys of providers are read from variables that the routes file names. */
export const configSchema = z.object({
  ...commonSettings,
  DATABASE_POOL_MAX: setting.integer({
    description: 'Maximum size of the database connection pool of one process.',
    min: 2,
    max: 200,
    default: 10,
  }),
  AUTH_INTERNAL_URL: setting.url({
    description: "Auth's internal listener: the signing keys, and revocations while NATS is silent.",
  }),
  JWKS_URL: setting.url({
    description: "URL of the signing keys, if they are not read from auth's internal listener.",
    optional: true,
  }),
  BILLING_INTERNAL_URL: setting.url({ description: "URL of billing's internal listener." }),
  BILLING_CURRENCY: setting.string({
    description: 'Currency of prices, as billing has it.',
    pattern: PAYABLE_CURRENCY,
    expected: 'the ISO 4217 code of a currency that Stripe charges, in upper case',
    default: 'EUR',
  }),
  ROUTES_FILE: setting.string({
    description: 'Path of the routes file (YAML): providers, routes and the routes of delegated inference.',
  }),
  PROVIDER_KEYS_DIR: setting.string({
    description:
      'Directory with one file per provider key, named like the variable in the routes file. Used if neither that variable nor its `_FILE` is set.',
    optional: true,
  }),
  INGRESS_REGION: setting.string({
    description: 'Region of the ingress, as reported in compliance metadata.',
    pattern: /^[\x21-\x7e]{1,64}$/,
    expected: 'up to 64 printable ASCII characters without blanks',
    default: 'local',
  }),
  API_KEY_PEPPER: secretKeysSetting({ description: 'Protects the stored digests of API keys.' }),
  ADMISSION_TIMEOUT_MS: setting.integer({
    description: "Timeout of billing's admission of a request, in milliseconds.",
    min: 50,
    max: 60_000,
    default: 5_000,
  }),
  UPSTREAM_CONNECT_TIMEOUT_MS: setting.integer({
    description: 'Timeout of a connection attempt to a provider, in milliseconds.',
    min: 50,
    max: 60_000,
    default: 5_000,
  }),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: setting.integer({
    description:
      'Timeout in milliseconds until a provider sends the headers of its answer, or accepts more bytes of an upload.',
    min: 100,
    max: DAY_MS,
    default: 120_000,
  }),
  UPSTREAM_IDLE_TIMEOUT_MS: setting.integer({
    description: 'Maximum silence of a provider within an answer, in milliseconds.',
    min: 100,
    max: DAY_MS,
    default: 60_000,
  }),
  UPSTREAM_TOTAL_TIMEOUT_MS: setting.integer({
    description: "Timeout of a provider's whole answer, in milliseconds.",
    min: 100,
    max: DAY_MS,
    default: 600_000,
  }),
  ROUTE_IN_FLIGHT_MAX: setting.integer({
    description:
      'Maximum concurrent requests of one process on one route; the rest go to the next route. Each takes a connection, so this bounds sockets and memory when a provider becomes slow.',
    min: 1,
    max: 100_000,
    default: 4_096,
  }),
  ROUTE_FAILURES_MAX: setting.integer({
    description:
      'Consecutive definite failures after which a route is paused. High enough that neither chance nor a single caller with failing requests can pause a healthy provider.',
    min: 1,
    max: 1_000_000,
    default: 50,
  }),
  ROUTE_PAUSE_MS: setting.integer({
    description:
      'Milliseconds without requests to a paused route; then one request probes it. Long enough to avoid waiting for a dead provider, short enough to use a recovered one soon.',
    min: 100,
    max: 3_600_000,
    default: 5_000,
  }),
  CLIENT_IDLE_TIMEOUT_MS: setting.integer({
    description:
      'Maximum milliseconds without progress by a caller: while it reads an answer, or sends an upload (which then gets 408).',
    min: 100,
    max: DAY_MS,
    default: 60_000,
  }),
  STREAM_KEEP_ALIVE_MS: setting.integer({
    description:
      'Longest silence of a stream towards its caller, in milliseconds; then it gets the headers, if they are known, and a comment. Shorter than the idle timeout of proxies, which is often 60 s.',
    min: 10,
    max: 3_600_000,
    default: 15_000,
  }),
  PROVENANCE_KEY_SECRET: secretKeysSetting({
    description: 'Keys of proofs are derived from it, a new key every 90 days. The same for all replicas.',
  }),
  USAGE_QUEUE_RECORDS_MAX: setting.integer({
    description: 'Maximum queued usage records. New requests are refused while the queue is full.',
    min: 1,
    max: 1_000_000,
    default: 10_000,
  }),
  USAGE_JOURNAL_DIR: setting.string({
    description:
      'Directory of the usage journal, which keeps outcomes through a crash until they are in the database. Needs a volume that ' +
      'outlives the process; replicas may share it. If unset, there is no journal and a crash loses the usage of the last answers.',
    optional: true,
  }),
  USAGE_RETENTION_MONTHS: setting.integer({
    description:
      'Retention of usage records, in whole months. Receipts need them, so keep it above REQUEST_RETENTION_DAYS of billing.',
    min: 1,
    max: 120,
    default: 24,
  }),
});

export type Config = z.infer<typeof configSchema>;

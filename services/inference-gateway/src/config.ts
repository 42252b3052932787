import { callingSettings, commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

const DAY_MS = 86_400_000;
const PEPPER_CHARACTERS_MIN = 32;

/** Everything that the environment decides. Keys of providers have names of their own, which the routes file tells. */
export const configSchema = z.object({
  ...commonSettings,
  ...callingSettings,
  DATABASE_POOL_MAX: setting.integer({
    description: 'Connections to the database that one process keeps at most.',
    min: 2,
    max: 200,
    default: 10,
  }),
  AUTH_INTERNAL_URL: setting.url({ description: "Auth's internal listener, where the signing keys are read." }),
  JWKS_URL: setting.url({
    description: 'Where the signing keys are read instead, such as a public address.',
    optional: true,
  }),
  BILLING_INTERNAL_URL: setting.url({ description: "Billing's internal listener." }),
  ROUTES_FILE: setting.string({
    description: 'The routes file (YAML): providers, routes and what delegated inference uses.',
  }),
  PROVIDER_KEYS_DIR: setting.string({
    description:
      "Directory with one file for each provider's key, named like the variable in the routes file. Read where neither that variable nor its `_FILE` is set.",
    optional: true,
  }),
  INGRESS_REGION: setting.string({
    description: 'Region that compliance metadata names as that of the ingress.',
    pattern: /^[\x21-\x7e]{1,64}$/,
    expected: 'up to 64 printable ASCII characters without blanks',
    default: 'local',
  }),
  API_KEY_PEPPER: setting.string({
    description: 'Secret that API keys are hashed with. Changing it makes every key unknown.',
    lengthMin: PEPPER_CHARACTERS_MIN,
    secret: true,
  }),
  ADMISSION_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds that billing may take to admit a request.',
    min: 50,
    max: 60_000,
    default: 5_000,
  }),
  UPSTREAM_CONNECT_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds to connect to a provider.',
    min: 50,
    max: 60_000,
    default: 5_000,
  }),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds that a provider may take before the head of its answer, or to take more of an upload.',
    min: 100,
    max: DAY_MS,
    default: 120_000,
  }),
  UPSTREAM_IDLE_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds that a provider may stay silent within an answer.',
    min: 100,
    max: DAY_MS,
    default: 60_000,
  }),
  UPSTREAM_TOTAL_TIMEOUT_MS: setting.integer({
    description: "Milliseconds for a provider's whole answer.",
    min: 100,
    max: DAY_MS,
    default: 600_000,
  }),
  ROUTE_IN_FLIGHT_MAX: setting.integer({
    description:
      'Requests that one process has under way over one route at most; more go to the next route. Each takes a connection, so this bounds sockets and memory where a provider becomes slow.',
    min: 1,
    max: 100_000,
    default: 4_096,
  }),
  ROUTE_FAILURES_MAX: setting.integer({
    description:
      'Certain failures of a route in a row after which it is paused. So many do not come by chance, nor from one caller whose requests fail, while a provider serves others.',
    min: 1,
    max: 1_000_000,
    default: 50,
  }),
  ROUTE_PAUSE_MS: setting.integer({
    description:
      'Milliseconds that a paused route is sent nothing; then one request probes it. Long enough to spare the wait for a dead provider, short enough that one that is back is used soon.',
    min: 100,
    max: 3_600_000,
    default: 5_000,
  }),
  CLIENT_IDLE_TIMEOUT_MS: setting.integer({
    description:
      'Milliseconds that a caller may leave what it was sent unread, or an upload without its next bytes (then it is 408).',
    min: 100,
    max: DAY_MS,
    default: 60_000,
  }),
  USAGE_QUEUE_RECORDS_MAX: setting.integer({
    description: 'Usage records that may wait for the database before new requests are refused.',
    min: 1,
    max: 1_000_000,
    default: 10_000,
  }),
  USAGE_JOURNAL_DIR: setting.string({
    description:
      'Directory in which outcomes are kept until they are in the database, so that they survive the death of the process. On a volume ' +
      'that outlives it; replicas may share it. Unset: no journal, and a crash loses the usage of the last answers.',
    optional: true,
  }),
  USAGE_RETENTION_MONTHS: setting.integer({
    description: 'Whole months that usage records are kept.',
    min: 1,
    max: 120,
    default: 24,
  }),
});

/** Everything that the environment decides. */
export type Config = z.infer<typeof configSchema>;

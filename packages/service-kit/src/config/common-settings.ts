import { ACCEPTED_CREDENTIAL, SERVICE_CREDENTIAL } from '../authentication/credentials.ts';
import { setting } from './setting.ts';

const PAIRS = /^[^\s=,]+=[^,]*(,\s*[^\s=,]+=[^,]*)*$/;
const RATIO = /^(0(\.\d+)?|1(\.0+)?)$/;

/** Variables for the database connection; migrations need no others. */
export const databaseSettings = {
  DATABASE_URL: setting.databaseUrl({
    description:
      "Connection string of this service's own database. Of several hosts, the one that takes writes is used.",
    secret: true,
  }),
  DATABASE_CA_FILE: setting.certificateFile({
    description:
      'PEM file of the authority that signed the certificate of PostgreSQL. With it, each connection is encrypted and the host is verified.',
    optional: true,
  }),
} as const;

/** Variables for the broker connection. */
export const brokerSettings = {
  NATS_URL: setting.url({
    description:
      'Address of NATS with the credentials of this user; several servers of a cluster, separated by commas.',
    protocols: ['nats', 'tls'],
    isList: true,
    secret: true,
  }),
  NATS_CA_FILE: setting.certificateFile({
    description:
      'PEM file of the authority that signed the certificates of NATS. With it, each connection is encrypted and the host name is verified.',
    optional: true,
  }),
} as const;

/** Variables of every service. Spread into the service's schema; repeat a name to override it. */
export const commonSettings = {
  PORT: setting.port({ description: 'Port of the public listener, behind the ingress.', default: 3000 }),
  INTERNAL_PORT: setting.port({
    description: 'Port of the internal listener: health, metrics and internal routes. Never behind the ingress.',
    default: 3001,
  }),
  HOST: setting.string({
    description:
      'Address that both listeners bind to. In a container `::`, for IPv6 and IPv4; without IPv6 it means 0.0.0.0.',
    default: '127.0.0.1',
  }),
  ...databaseSettings,
  ...brokerSettings,
  PUBLIC_BASE_URL: setting.url({
    description: 'The one base URL of the product as callers see it; also the issuer of every token.',
  }),
  LOG_LEVEL: setting.choice({
    description: 'Least severe level that is logged.',
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    default: 'info',
  }),
  INTERNAL_API_TOKENS: setting.list({
    description:
      'Credentials that are accepted on the internal port, each with its caller: as it is sent, or its digest, which its holder cannot use to call others. A caller may have several while it changes its own.',
    itemsMin: 1,
    itemPattern: ACCEPTED_CREDENTIAL,
    itemExpected:
      '`<caller>:<secret>` or `<caller>:sha256:<hex digest of the secret>`, secrets of at least 16 characters',
    secret: true,
  }),
  INTERNAL_API_TOKEN: setting.string({
    description: "This service's own credential, which it presents to the internal ports of other services.",
    pattern: SERVICE_CREDENTIAL,
    expected: '`<name of this service>:<secret of at least 16 characters>`',
    secret: true,
  }),
  TRUST_PROXY_HOPS: setting.integer({
    description: 'Number of proxies in front whose X-Forwarded-For entry is believed.',
    min: 0,
    max: 10,
    default: 1,
  }),
  STEP_UP_MAX_AGE_SECONDS: setting.integer({
    description: 'Seconds after which a signed-in person must prove who they are again before a sensitive act.',
    min: 1,
    max: 43_200,
    default: 900,
  }),
  SHUTDOWN_GRACE_MS: setting.integer({
    description: 'Milliseconds that open requests and streams get to end after a stop signal.',
    min: 0,
    max: 600_000,
    default: 25_000,
  }),
  SHUTDOWN_DELAY_MS: setting.integer({
    description: 'Milliseconds between turning unready and refusing connections, for load balancers to notice.',
    min: 0,
    max: 60_000,
    default: 0,
  }),
  OTEL_TRACES_EXPORTER: setting.choice({
    description: 'Whether traces are sent. Unset: where a collector is named.',
    values: ['otlp', 'none'],
    optional: true,
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url({
    description:
      'Base address of the collector of traces, which speaks OTLP over HTTP; http://127.0.0.1:4318 where traces are sent and none is named.',
    optional: true,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: setting.string({
    description: 'Headers that the collector wants, such as a key.',
    pattern: PAIRS,
    expected: '`name=value` pairs separated by commas, values percent-encoded',
    secret: true,
    optional: true,
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: setting.integer({
    description: 'Milliseconds that the collector may take for a batch of spans.',
    min: 100,
    max: 60_000,
    default: 10_000,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting.string({
    description: 'Share of traces that are sent, by trace id. The same for all services, or traces have holes.',
    pattern: RATIO,
    expected: 'a number from 0 to 1',
    default: '1',
  }),
  OTEL_RESOURCE_ATTRIBUTES: setting.string({
    description: 'What every span says of the deployment, such as `deployment.environment.name=production`.',
    pattern: PAIRS,
    expected: '`name=value` pairs separated by commas, values percent-encoded',
    optional: true,
  }),
  RESPONSE_VALIDATION: setting.boolean({
    description: 'Check every answer against the contract before it is sent; for development and tests.',
    default: false,
  }),
} as const;

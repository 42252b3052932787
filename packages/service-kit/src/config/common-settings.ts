import { setting } from './setting.ts';

const TOKEN_CHARACTERS_MIN = 16;

/** Variables that every service has; spread into its own schema, and override one by naming it again. */
export const commonSettings = {
  PORT: setting.port({ description: 'Port of the public listener, behind the ingress.', default: 3000 }),
  INTERNAL_PORT: setting.port({
    description: 'Port of the internal listener: health, metrics and internal routes. Never behind the ingress.',
    default: 3001,
  }),
  HOST: setting.string({
    description: 'Address that both listeners bind to; 0.0.0.0 in a container.',
    default: '127.0.0.1',
  }),
  DATABASE_URL: setting.url({
    description: "Connection string of this service's own database.",
    protocols: ['postgres', 'postgresql'],
    secret: true,
  }),
  NATS_URL: setting.url({
    description: 'Address of the NATS server, with credentials where it wants them.',
    protocols: ['nats', 'tls', 'ws', 'wss'],
    secret: true,
  }),
  PUBLIC_BASE_URL: setting.url({
    description: 'The one base URL of the product as callers see it; also the issuer of every token.',
  }),
  LOG_LEVEL: setting.choice({
    description: 'Least severe level that is logged.',
    values: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    default: 'info',
  }),
  INTERNAL_API_TOKENS: setting.list({
    description: 'Service credentials: the first one is sent, each of them is accepted, so that they can be rotated.',
    itemsMin: 1,
    itemLengthMin: TOKEN_CHARACTERS_MIN,
    secret: true,
  }),
  TRUST_PROXY_HOPS: setting.integer({
    description: 'Number of proxies in front whose X-Forwarded-For entry is believed.',
    min: 0,
    max: 10,
    default: 1,
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
  RESPONSE_VALIDATION: setting.boolean({
    description: 'Check every answer against the contract before it is sent; for development and tests.',
    default: false,
  }),
} as const;

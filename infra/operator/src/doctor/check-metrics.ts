import { consumingServices, type ServiceName } from '@svc/contracts';
import { type Finding, finding, unknown } from './finding.ts';

/** A sample of the Prometheus text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples and clock of a service. */
export interface Reading {
  readonly samples: readonly Sample[];
  /** Milliseconds by which the service's clock is ahead of this one; undefined if it sent no time. */
  readonly aheadMs: number | undefined;
}

const TIMEOUT_MS = 10_000;
const DAY_SECONDS = 86_400;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the metrics of a service. Rejects if it does not answer. */
export const readMetrics = async (internalUrl: string): Promise<Reading> => {
  const sentMs = Date.now();
  const answer = await fetch(`${internalUrl}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const sentAt = answer.headers.get('date');
  const text = await answer.text();
  // The header has whole seconds, so its middle is compared with the middle of the call.
  const aheadMs = sentAt === null ? undefined : Date.parse(sentAt) + 500 - (sentMs + Date.now()) / 2;
  return { samples: text.split('\n').flatMap(parseSample), aheadMs };
};

const parseSample = (line: string): Sample[] => {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
};

/** A limit that a metric of a service must keep. */
interface Limit {
  readonly check: string;
  readonly services: readonly ServiceName[];
  readonly metric: string;
  readonly label?: string;
  /** True if services report it only in some deployments. */
  readonly isOptional?: boolean;
  readonly isGood: (value: number) => boolean;
  readonly show: (value: number) => string;
}

const days = (seconds: number): string => `${(seconds / DAY_SECONDS).toFixed(1)} days`;
const minutes = (seconds: number): string => `${Math.round(seconds / 60)} minutes`;

/** Limits whose breach hurts within days, or hurts already without notice. Alerts have the same bounds. */
const LIMITS: readonly Limit[] = [
  {
    check: 'certification',
    services: ['inference-gateway'],
    metric: 'route_certification_expires_seconds',
    label: 'route',
    isGood: (seconds) => seconds > 21 * DAY_SECONDS,
    show: (seconds) => `ends in ${days(seconds)}`,
  },
  {
    check: 'mail queue',
    services: ['auth'],
    metric: 'auth_mails_waiting',
    isGood: (mails) => mails < 50,
    show: (mails) => `${mails} mails wait`,
  },
  {
    check: 'blocked webhooks',
    services: ['webhook-dispatcher'],
    metric: 'webhook_blocked_lanes',
    isGood: (lanes) => lanes < 10,
    show: (lanes) => `${lanes} webhooks are blocked`,
  },
  {
    check: 'late webhooks',
    services: ['webhook-dispatcher'],
    metric: 'webhook_oldest_due_seconds',
    isGood: (seconds) => seconds < 60,
    show: (seconds) => `the oldest waits for ${minutes(seconds)}`,
  },
  {
    check: 'payment provider',
    services: ['billing'],
    metric: 'billing_provider_last_success_seconds',
    isGood: (seconds) => seconds < 1_800,
    show: (seconds) => `answered ${minutes(seconds)} ago`,
  },
  {
    check: 'usage records',
    services: ['inference-gateway'],
    metric: 'usage_records_waiting',
    isGood: (records) => records < 1_000,
    show: (records) => `${records} wait for the database`,
  },
  {
    check: 'database pool',
    services: consumingServices,
    metric: 'database_pool_waiting',
    isGood: (callers) => callers < 5,
    show: (callers) => `${callers} callers wait for a connection`,
  },
  {
    check: 'connection certificate',
    services: consumingServices,
    metric: 'tls_certificate_expires_seconds',
    label: 'peer',
    isOptional: true,
    isGood: (seconds) => seconds > 6 * DAY_SECONDS,
    show: (seconds) => `ends in ${days(seconds)}`,
  },
];

/** Compares the metrics of the services with their limits. */
export const checkLimits = (readings: ReadonlyMap<ServiceName, Reading>): Finding[] =>
  LIMITS.flatMap((limit) =>
    limit.services.flatMap((service) => {
      const reading = readings.get(service);
      return reading === undefined ? [] : checkLimit(limit, service, reading);
    }),
  );

const checkLimit = (limit: Limit, service: ServiceName, { samples }: Reading): Finding[] => {
  const { check, metric, label, isGood, show } = limit;
  const found = samples.filter(({ name, value }) => name === metric && !Number.isNaN(value));
  if (found.length === 0) return limit.isOptional === true ? [] : [unknown(check, `${service} does not report it`)];
  return found.map(({ labels, value }) => {
    const subject = [limit.services.length > 1 ? service : undefined, label && labels[label]]
      .filter(Boolean)
      .join(', ');
    return finding(check, isGood(value), `${subject === '' ? '' : `${subject}: `}${show(value)}`);
  });
};

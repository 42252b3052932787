import type { ServiceName } from '@svc/contracts';
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
  readonly service: ServiceName;
  readonly metric: string;
  readonly label?: string;
  readonly isGood: (value: number) => boolean;
  readonly show: (value: number) => string;
}

const days = (seconds: number): string => `${(seconds / DAY_SECONDS).toFixed(1)} days`;
const minutes = (seconds: number): string => `${Math.round(seconds / 60)} minutes`;

/** Limits whose breach hurts within days, or hurts already without notice. Alerts have the same bounds. */
const LIMITS: readonly Limit[] = [
  {
    check: 'certification',
    service: 'inference-gateway',
    metric: 'route_certification_expires_seconds',
    label: 'route',
    isGood: (seconds) => seconds > 21 * DAY_SECONDS,
    show: (seconds) => `ends in ${days(seconds)}`,
  },
  {
    check: 'mail queue',
    service: 'auth',
    metric: 'auth_mails_waiting',
    isGood: (mails) => mails < 50,
    show: (mails) => `${mails} mails wait`,
  },
  {
    check: 'blocked webhooks',
    service: 'webhook-dispatcher',
    metric: 'webhook_blocked_lanes',
    isGood: (lanes) => lanes < 10,
    show: (lanes) => `${lanes} webhooks are blocked`,
  },
  {
    check: 'late webhooks',
    service: 'webhook-dispatcher',
    metric: 'webhook_oldest_due_seconds',
    isGood: (seconds) => seconds < 60,
    show: (seconds) => `the oldest waits for ${minutes(seconds)}`,
  },
  {
    check: 'payment provider',
    service: 'billing',
    metric: 'billing_provider_last_success_seconds',
    isGood: (seconds) => seconds < 1_800,
    show: (seconds) => `answered ${minutes(seconds)} ago`,
  },
  {
    check: 'usage records',
    service: 'inference-gateway',
    metric: 'usage_records_waiting',
    isGood: (records) => records < 1_000,
    show: (records) => `${records} wait for the database`,
  },
];

/** Compares the metrics of the services with their limits. */
export const checkLimits = (readings: ReadonlyMap<ServiceName, Reading>): Finding[] =>
  LIMITS.flatMap(({ check, service, metric, label, isGood, show }) => {
    const reading = readings.get(service);
    if (reading === undefined) return [];
    const found = reading.samples.filter(({ name, value }) => name === metric && !Number.isNaN(value));
    if (found.length === 0) return [unknown(check, `${service} does not report it`)];
    return found.map(({ labels, value }) => {
      const subject = label === undefined ? '' : `${labels[label]}: `;
      return finding(check, isGood(value), `${subject}${show(value)}`);
    });
  });

import { readdir, statfs } from 'node:fs/promises';
import { connect } from 'node:tls';
import { consumingServices, type ServiceName } from '@svc/contracts';

/** Result of one check. `unknown`: it could not be made here, which is no fault. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'ATTENTION' | 'unknown';
  readonly detail: string;
}

export const finding = (check: string, isGood: boolean, detail: string): Finding => ({
  check,
  state: isGood ? 'ok' : 'ATTENTION',
  detail,
});

const unknown = (check: string, detail: string): Finding => ({ check, state: 'unknown', detail });

/** The part of the environment that says what can be looked at from here. */
export interface MachineSettings {
  /** Folders whose disks are measured, separated by commas. */
  readonly SVC_DISKS?: string | undefined;
  /** Folder of the backups, named by their times. */
  readonly SVC_BACKUP_DIR?: string | undefined;
  readonly BACKUP_INTERVAL_SECONDS?: string | undefined;
  readonly PUBLIC_BASE_URL?: string | undefined;
  /** Host to ask for the certificate of PUBLIC_BASE_URL, if not its own. */
  readonly SVC_ENTRANCE?: string | undefined;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DISK_USED_MAX = 0.8;
const CERTIFICATE_DAYS_MIN = 14;
const CERTIFICATE_TIMEOUT_MS = 10_000;
const BACKUP_INTERVAL_SECONDS = 21_600;
const HTTPS_PORT = 443;

/** Checks disks, backups and the certificate of the entrance, as far as they can be seen from here. */
export const checkMachine = async (env: MachineSettings): Promise<Finding[]> => [
  ...(await Promise.all((env.SVC_DISKS ?? '').split(',').filter(Boolean).map(checkDisk))),
  await checkBackups(env),
  await checkCertificate(env),
];

const checkDisk = async (folder: string): Promise<Finding> => {
  try {
    const { blocks, bavail, bfree } = await statfs(folder);
    const used = (blocks - bfree) / (blocks - bfree + bavail);
    return finding('disk', used < DISK_USED_MAX, `${folder}: ${Math.round(used * 100)} % used`);
  } catch {
    return unknown('disk', `${folder} cannot be measured`);
  }
};

const checkBackups = async ({
  SVC_BACKUP_DIR,
  BACKUP_INTERVAL_SECONDS: interval,
}: MachineSettings): Promise<Finding> => {
  if (SVC_BACKUP_DIR === undefined || SVC_BACKUP_DIR === '') return unknown('backup', 'SVC_BACKUP_DIR is not set');
  const names = await readdir(SVC_BACKUP_DIR).catch(({ message }: Error) => message);
  if (typeof names === 'string') return finding('backup', false, names);
  const newestMs = Math.max(...names.map((name) => Date.parse(name)).filter((timeMs) => !Number.isNaN(timeMs)));
  if (!Number.isFinite(newestMs)) return finding('backup', false, 'there is none');
  const ageMs = Date.now() - newestMs;
  const ageMsMax = 2_000 * Number(interval || BACKUP_INTERVAL_SECONDS);
  return finding('backup', ageMs <= ageMsMax, `the newest is ${(ageMs / HOUR_MS).toFixed(1)} hours old`);
};

const checkCertificate = async ({ PUBLIC_BASE_URL, SVC_ENTRANCE }: MachineSettings): Promise<Finding> => {
  const url = URL.parse(PUBLIC_BASE_URL ?? '');
  if (url?.protocol !== 'https:') return unknown('certificate', 'PUBLIC_BASE_URL is not an https address');
  try {
    const daysLeft = (Date.parse(await readExpiry(url, SVC_ENTRANCE || url.hostname)) - Date.now()) / DAY_MS;
    return finding(
      'certificate',
      daysLeft > CERTIFICATE_DAYS_MIN,
      `${url.hostname}: ${Math.floor(daysLeft)} days left`,
    );
  } catch (error) {
    return finding('certificate', false, `${url.hostname}: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const readExpiry = (url: URL, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const port = Number(url.port || HTTPS_PORT);
    const socket = connect({ host, port, servername: url.hostname, rejectUnauthorized: false });
    socket.setTimeout(CERTIFICATE_TIMEOUT_MS, () => socket.destroy(new Error('the entrance does not answer')));
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const { valid_to } = socket.getPeerCertificate();
      socket.destroy();
      if (socket.authorizationError === undefined || socket.authorizationError === null) resolve(valid_to);
      else reject(new Error(`the certificate is refused: ${String(socket.authorizationError)}`));
    });
  });

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
const ageOf = (unixSeconds: number): number => Math.max(0, Date.now() / 1_000 - unixSeconds);

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
    isGood: (unixSeconds) => ageOf(unixSeconds) < 1_800,
    show: (unixSeconds) =>
      unixSeconds === 0 ? 'no answer since billing started' : `answered ${minutes(ageOf(unixSeconds))} ago`,
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

import { readdir, statfs } from 'node:fs/promises';
import { connect } from 'node:tls';
import { type Finding, finding, unknown } from './finding.ts';

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
  const names = await readdir(SVC_BACKUP_DIR).catch(() => []);
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

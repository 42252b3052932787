import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Clock } from '@svc/service-kit';
import { MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';
import { DEVICE_CODE_SECONDS, DEVICE_POLL_SECONDS } from './codes-and-tokens.ts';

/** A pending request of a device (RFC 8628), as stored. */
export interface DeviceRequestRecord {
  /** Digest of the device code. */
  readonly digest: Buffer;
  /** Code that the person types, without its dash. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scope: string;
  readonly authorizationDetails: string | null;
  readonly deviceName: string | null;
  /** Coarse network of the device. */
  readonly network: string | null;
}

const COLUMNS = Object.keys({
  digest: true,
  user_code: true,
  client_id: true,
  scope: true,
  authorization_details: true,
  device_name: true,
  network: true,
} satisfies Record<keyof SnakeKeys<DeviceRequestRecord>, true>);

/**
 * Stores a request under its code for people, with an expiry by the clock of the database. Returns false if a
 * request of the last hour has that code.
 */
export const insertDeviceRequest = async (
  executor: Executor,
  request: DeviceRequestRecord & { readonly expiresInSeconds: number },
): Promise<boolean> => {
  const { expiresInSeconds, ...record } = request;
  const expiresAt = executor.raw('now() + ?::interval', [`${expiresInSeconds} seconds`]);
  const rows = await executor('device_codes')
    .insert(snakeKeys({ ...record, expiresAt }))
    .onConflict('user_code')
    .ignore()
    .returning('client_id');
  return rows.length > 0;
};

type Row = SnakeKeys<DeviceRequestRecord>;

const pending = (executor: Executor) =>
  executor('device_codes').whereNotNull('user_code').whereRaw('expires_at > clock_timestamp()');

/** Finds the pending request with this code for people. */
export const findDeviceRequestByUserCode = async (
  executor: Executor,
  userCode: string,
): Promise<DeviceRequestRecord | undefined> => {
  const row = await pending(executor).where('user_code', userCode).first<Row | undefined>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Finds a pending request. */
export const findDeviceRequest = async (
  executor: Executor,
  digest: Buffer,
): Promise<DeviceRequestRecord | undefined> => {
  const row = await pending(executor).where('digest', digest).first<Row | undefined>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Ends a pending request with a grant, or denies it. Returns false if it was decided or has expired meanwhile. */
export const decideDeviceRequest = async (
  trx: Transaction | Executor,
  digest: Buffer,
  decision: { readonly grantId: string } | 'denied',
): Promise<boolean> => {
  const outcome = decision === 'denied' ? { denied_at: trx.fn.now() } : { grant_id: decision.grantId };
  return (
    (await pending(trx)
      .where('digest', digest)
      .update({ user_code: null, ...outcome })) > 0
  );
};

/** Finds the app of a request that this person has approved. */
export const findAppOfApprovedDevice = async (
  executor: Executor,
  digest: Buffer,
  userId: string,
): Promise<string | undefined> => {
  const row = await executor('device_codes as d')
    .join('grants as g', 'g.id', 'd.grant_id')
    .where({ 'd.digest': digest, 'g.user_id': userId })
    .first<{ client_id: string } | undefined>('d.client_id');
  return row?.client_id;
};

/** Deletes at most `limit` requests that expired before the given time. Returns the number. */
export const deleteDeviceRequestsExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> =>
  await executor('device_codes')
    .whereIn('digest', executor('device_codes').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();

/** Tolerated earliness of a poll: networks deliver two of them at uneven speed. */
const JITTER_MS = 500;
/** Devices remembered per process. Beyond this limit the one that has been silent for longest is forgotten. */
const DEVICES_MAX = 100_000;
/** After this time without a poll, the code of a device has expired. */
const SILENCE_MS = DEVICE_CODE_SECONDS * SECOND_MS + MINUTE_MS;

/** Judges the pace of polls in memory, so that a poll writes nothing. Each replica judges the polls that it gets. */
export interface PollPacer {
  /** Records a poll. Returns false if it came too early, which makes the interval longer (RFC 8628 section 3.5). */
  readonly isPaced: (deviceCode: Buffer) => boolean;
}

interface Polled {
  readonly atMs: number;
  readonly intervalMs: number;
}

export const createPollPacer = (clock: Clock, devicesMax: number = DEVICES_MAX): PollPacer => {
  const last = new Map<string, Polled>();
  return {
    isPaced: (deviceCode) => {
      const key = deviceCode.toString('base64');
      const nowMs = clock().getTime();
      // A Map keeps insertion order, so the device that has been silent for longest comes first.
      for (const [silent, { atMs }] of last) {
        if (atMs + SILENCE_MS > nowMs && last.size <= devicesMax) break;
        last.delete(silent);
      }
      const before = last.get(key);
      last.delete(key);
      const intervalMs = before?.intervalMs ?? DEVICE_POLL_SECONDS * SECOND_MS;
      const isPaced = before === undefined || nowMs - before.atMs >= before.intervalMs - JITTER_MS;
      last.set(key, {
        atMs: nowMs,
        intervalMs: isPaced ? intervalMs : intervalMs + DEVICE_POLL_SECONDS * SECOND_MS,
      });
      return isPaced;
    },
  };
};

import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

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

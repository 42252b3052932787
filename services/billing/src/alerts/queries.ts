import type { AlertSettings } from '@svc/contracts';
import type { Knex } from 'knex';

/** Reads the alert settings of an account; the defaults if it has none. */
export const findAlertSettings = async (database: Knex, userId: string): Promise<AlertSettings> => {
  const { rows } = await database.raw<{ rows: AlertSettings[] }>(
    'SELECT thresholds_percent, wallet_below_micros FROM alert_settings_of(?)',
    [userId],
  );
  const [settings] = rows;
  if (settings === undefined) throw new Error('a query that returns the settings or their defaults returned none');
  return settings;
};

/** Locks the wallet of an account, and lets its alert be raised again if the balance is not below this amount. */
export const rearmWalletAlert = async (trx: Knex.Transaction, userId: string, belowMicros: number): Promise<void> => {
  const wallet = await trx('wallets').where({ svc_user_id: userId }).forNoKeyUpdate().first('balance_micros');
  if (wallet === undefined || wallet.balance_micros < belowMicros) return;
  await trx('raised_alerts').where({ svc_user_id: userId, subject: 'wallet' }).delete();
};

/** Replaces the alert settings of an account. */
export const upsertAlertSettings = async (database: Knex, userId: string, settings: AlertSettings): Promise<void> => {
  await database('alert_settings')
    .insert({ svc_user_id: userId, ...settings })
    .onConflict('svc_user_id')
    .merge();
};

export const deleteAlertSettings = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx('alert_settings').where({ svc_user_id: userId }).delete();
};

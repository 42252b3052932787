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

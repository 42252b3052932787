import { type AlertSettings, routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';

/** Reads the alert settings of an account; the defaults if it has none. */
const findAlertSettings = async (database: Knex, userId: string): Promise<AlertSettings> => {
  const { rows } = await database.raw<{ rows: AlertSettings[] }>(
    'SELECT thresholds_percent, wallet_below_micros FROM alert_settings_of(?)',
    [userId],
  );
  const [settings] = rows;
  if (settings === undefined) throw new Error('a query that returns the settings or their defaults returned none');
  return settings;
};

/** Locks the wallet of an account, and lets its alert be raised again if the balance is not below this amount. */
const rearmWalletAlert = async (trx: Knex.Transaction, userId: string, belowMicros: number): Promise<void> => {
  const wallet = await trx('wallets').where({ svc_user_id: userId }).forNoKeyUpdate().first('balance_micros');
  if (wallet === undefined || wallet.balance_micros < belowMicros) return;
  await trx('raised_alerts').where({ svc_user_id: userId, subject: 'wallet' }).delete();
};

/** Replaces the alert settings of an account. */
const upsertAlertSettings = async (database: Knex, userId: string, settings: AlertSettings): Promise<void> => {
  await database('alert_settings')
    .insert({ svc_user_id: userId, ...settings })
    .onConflict('svc_user_id')
    .merge();
};

export const deleteAlertSettings = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx('alert_settings').where({ svc_user_id: userId }).delete();
};

/** Replaces the alert settings of an account. Takes effect with the next change of its use. */
const changeAlertSettings = async (
  database: Knex,
  { userId, act }: { readonly userId: string; readonly act: Act },
  { thresholds_percent, wallet_below_micros }: AlertSettings,
): Promise<AlertSettings> => {
  const ascending = [...new Set(thresholds_percent)].sort((one, other) => one - other);
  const settings = { thresholds_percent: ascending, wallet_below_micros };
  await database.transaction(async (trx) => {
    await rearmWalletAlert(trx, userId, wallet_below_micros ?? 0);
    await upsertAlertSettings(trx, userId, settings);
    await recordAct(trx, act, { type: 'alerts', id: null, name: null });
  });
  return settings;
};

/** Binds the routes of alert settings. */
export const alertRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(routes.getAlertSettings, async ({ caller }) => ({
    status: 200,
    body: await findAlertSettings(database, caller.userId),
  })),
  bind(routes.changeAlertSettings, async ({ caller, act, body }) => ({
    status: 200,
    body: await changeAlertSettings(database, { userId: caller.userId, act }, body),
  })),
];

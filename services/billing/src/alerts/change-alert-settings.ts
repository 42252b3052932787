import type { AlertSettings } from '@svc/contracts';
import { recordAct } from '@svc/database';
import type { Act } from '@svc/service-kit';
import type { Knex } from 'knex';
import { rearmWalletAlert, upsertAlertSettings } from './queries.ts';

/** Replaces the alert settings of an account. Takes effect with the next change of its use. */
export const changeAlertSettings = async (
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

import { snakeKeys } from '../key-case.ts';
import type { Executor } from '../transact.ts';

/** Remembers that a form was denied, for as long as it could be sent. */
export const insertDeniedForm = async (
  executor: Executor,
  form: { readonly digest: Buffer; readonly expiresAt: Date },
): Promise<void> => {
  await executor('denied_forms').insert(snakeKeys(form)).onConflict('digest').ignore();
};

/** Says whether a form was denied. */
export const isDeniedForm = async (executor: Executor, digest: Buffer): Promise<boolean> =>
  (await executor('denied_forms').where({ digest }).first('digest')) !== undefined;

/** Removes at most `limit` denials of forms that expired before an instant; answers how many. */
export const deleteDeniedFormsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('denied_forms')
    .whereIn('digest', executor('denied_forms').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();

import { snakeKeys } from '../key-case.ts';
import type { Executor } from '../transact.ts';

/** Stores that a form was denied, for the lifetime of the form. */
export const insertDeniedForm = async (
  executor: Executor,
  form: { readonly digest: Buffer; readonly expiresAt: Date },
): Promise<void> => {
  await executor('denied_forms').insert(snakeKeys(form)).onConflict('digest').ignore();
};

/** Returns true if a form was denied, under any of its digests. */
export const isDeniedForm = async (executor: Executor, digests: readonly Buffer[]): Promise<boolean> =>
  (await executor('denied_forms').whereIn('digest', digests).first('digest')) !== undefined;

/** Deletes at most `limit` denials of forms that expired before the given time. Returns the number. */
export const deleteDeniedFormsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('denied_forms')
    .whereIn('digest', executor('denied_forms').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();

import { idTimeAt, idTimeOf, LOST_PREFIX, lostTokensText } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { findGrantIdAfter } from '../connections/index.ts';
import { findSessionIdAfter } from '../sessions/index.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';

/** A backup is named by its beginning, so the database may know what began a little later. */
const KNOWN_MS = MINUTE_MS;

/**
 * Ends the tokens that a restored database does not know: those of sessions and grants begun since the restored moment, and
 * so of every account opened since. Spares what began after the restore, whose start shows as the first known id.
 */
export const endLostTokens = async (
  { database, transact }: { readonly database: Executor; readonly transact: Transact },
  { restoredTo, until }: { readonly restoredTo: Date; readonly until: Date },
): Promise<void> => {
  const since = later(restoredTo, KNOWN_MS);
  const first = (await Promise.all([findSessionIdAfter(database, since), findGrantIdAfter(database, since)])).flatMap(
    (id) => (id === undefined ? [] : [idTimeOf(id)]),
  );
  const [through = idTimeAt(until.getTime())] = [...first, idTimeAt(until.getTime())].toSorted();
  const range = lostTokensText(idTimeAt(restoredTo.getTime()), through);
  const revocation = { key: `${LOST_PREFIX}${range}`, value: { revoked_through: range } };
  await transact((trx) => appendToOutbox(trx, { revocation }));
};

import { lockAccount } from '../accounts/index.ts';
import { OWN_ORIGIN } from '../connections/index.ts';
import { endAccess } from '../credentials/index.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import { type ListSessionsDeps, listLiveSessions } from '../sessions/index.ts';
import type { Transact } from '../transact.ts';

export interface EndAccountSessionsDeps extends ListSessionsDeps, MailOutboxDeps {
  readonly transact: Transact;
}

/**
 * Ends every session of an account and voids mailed links that would change its password or address; with `access` also
 * ends its connections and API keys. Returns the number of ended sessions; undefined if there is no such account.
 */
export const endAccountSessions = (
  deps: EndAccountSessionsDeps,
  { userId, access }: { userId: string; access: boolean },
): Promise<number | undefined> =>
  deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    if (account === undefined) return undefined;
    const live = await listLiveSessions({ ...deps, database: trx }, userId);
    const endings = access ? (['sign_out', 'revocation'] as const) : (['sign_out'] as const);
    await endAccess(deps, trx, { account, origin: OWN_ORIGIN, now: deps.clock(), endings });
    return live.length;
  });

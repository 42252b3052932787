import type { InspectedAccount } from '@svc/contracts';
import { describeAccount, findAccountByEmail, findCredentialsById, normalizeEmail } from '../accounts/index.ts';
import { listStandingConnections } from '../connections/index.ts';
import { countRecoveryCodes, listFactorsOfUser, toFactorJson } from '../factors/index.ts';
import { type ListSessionsDeps, listLiveSessions } from '../sessions/index.ts';

/** Finds an account by its address or id, with the details an operator needs to help its owner. */
export const findAccount = async (
  deps: ListSessionsDeps,
  wanted: { readonly email: string } | { readonly svc_user_id: string },
): Promise<InspectedAccount | undefined> => {
  const found =
    'email' in wanted
      ? await findAccountByEmail(deps.database, normalizeEmail(wanted.email))
      : await findCredentialsById(deps.database, wanted.svc_user_id);
  if (found === undefined) return undefined;
  const { account, passwordHash } = found;
  const sessions = await listLiveSessions(deps, account.id);
  const [lastUsed] = sessions;
  return {
    account: await describeAccount(deps.database, account),
    has_password: passwordHash !== null,
    factors: (await listFactorsOfUser(deps.database, account.id)).map(toFactorJson),
    recovery_codes_left: await countRecoveryCodes(deps.database, account.id),
    sessions: sessions.length,
    last_used_at: lastUsed?.lastUsedAt.toISOString() ?? null,
    connections: (await listStandingConnections(deps.database, account.id)).length,
    erased_at: account.eraseAt?.toISOString() ?? null,
  };
};

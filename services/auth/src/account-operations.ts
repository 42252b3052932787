import {
  accountOperations,
  type InspectedAccount,
  idTimeAt,
  idTimeOf,
  LOST_PREFIX,
  lostTokensText,
} from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError, type Binding, bind } from '@svc/service-kit';
import {
  describeAccount,
  findAccountByEmail,
  findCredentialsById,
  lockAccount,
  normalizeEmail,
} from './accounts/index.ts';
import { findGrantIdAfter, listStandingConnections, OWN_ORIGIN } from './connections/index.ts';
import { endAccess } from './credentials/index.ts';
import { announceErasures, type ScheduleErasureDeps, scheduleErasure } from './erasure/index.ts';
import {
  countRecoveryCodes,
  type FactorsDeps,
  listFactorsOfUser,
  resetFactors,
  toFactorJson,
} from './factors/index.ts';
import type { MailOutboxDeps } from './mail/index.ts';
import { requireOwnersElsewhere } from './organizations/index.ts';
import { findSessionIdAfter, type ListSessionsDeps, listLiveSessions } from './sessions/index.ts';
import { later, MINUTE_MS } from './time.ts';
import type { Executor, Transact } from './transact.ts';

interface EndAccountSessionsDeps extends ListSessionsDeps, MailOutboxDeps {
  readonly transact: Transact;
}

/**
 * Ends every session of an account and voids mailed links that would change its password or address; with `access` also
 * ends its connections and API keys. Returns the number of ended sessions; undefined if there is no such account.
 */
const endAccountSessions = (
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

/** Finds an account by its address or id, with the details an operator needs to help its owner. */
const findAccount = async (
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

interface AccountOperationsDeps
  extends EndAccountSessionsDeps,
    ScheduleErasureDeps,
    Pick<FactorsDeps, 'endActingWithoutFactor'> {
  readonly erasureDelayMs: number;
}

/** Binds the operator routes of accounts. */
export const accountOperationRoutes = (deps: AccountOperationsDeps): Binding[] => [
  bind(accountOperations.findAccount, async ({ body }) => ({
    status: 200,
    body: orNotFound(await findAccount(deps, body)),
  })),
  bind(accountOperations.resetFactors, async ({ params }) => ({
    status: 200,
    body: { removed: orNotFound(await resetFactors(deps, params.svc_user_id)) },
  })),
  bind(accountOperations.endAccountSessions, async ({ params, body }) => {
    const ended = await endAccountSessions(deps, { userId: params.svc_user_id, access: body.access });
    return { status: 200, body: { ended: orNotFound(ended) } };
  }),
  bind(accountOperations.eraseAccount, async ({ params, body }) => {
    const erasedAt = await scheduleErasure(deps, {
      userId: params.svc_user_id,
      origin: OWN_ORIGIN,
      delayMs: body.at_once ? 0 : deps.erasureDelayMs,
      check: (trx) => requireOwnersElsewhere(trx, params.svc_user_id),
    });
    return { status: 200, body: { erased_at: orNotFound(erasedAt).toISOString() } };
  }),
  bind(accountOperations.announceErasures, async ({ body }) => ({
    status: 200,
    body: { announced: await announceErasures(deps, new Date(body.since)) },
  })),
];

const orNotFound = <T>(found: T | undefined): T => {
  if (found === undefined) throw new AppError('not_found');
  return found;
};

import { type newId, routes, type updateAccountRequestSchema } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError, type Binding, bind, type Clock, invalidField, requireRole } from '@svc/service-kit';
import type { z } from 'zod';
import { type AccountRecord, describeAccount, lockAccount, updateProfile } from './accounts/index.ts';
import { findActingMembership, foundersMembership, insertMembership, toActingFor } from './memberships.ts';
import {
  findSessionById,
  type RenewedSession,
  renewedSessionCookies,
  renewSession,
  type SessionTokenDeps,
  toSessionJson,
} from './sessions/index.ts';
import type { Executor, Transact, Transaction } from './transact.ts';

interface ChangeProfileDeps extends SessionTokenDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

/** A change of the profile; omitted fields stay as they are. */
interface ProfileChange {
  readonly userId: string;
  readonly body: z.output<typeof updateAccountRequestSchema>;
  /** Recorded if the account is an organization and gets another name. */
  readonly act: Act;
}

/**
 * Changes the profile. Throws 422 if a personal account is given a business name, and `role_not_allowed` if the account
 * may no longer rename the organization that it opened.
 */
const changeProfile = async (
  deps: Pick<ChangeProfileDeps, 'transact'>,
  { userId, body, act }: ProfileChange,
): Promise<AccountRecord> => {
  const { business_name: businessName, display_name: displayName, locale } = body;
  const change = {
    ...(businessName === undefined ? {} : { businessName }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(locale === undefined ? {} : { locale }),
  };
  return await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, userId);
    if (locked === undefined) throw new AppError('invalid_token');
    if (businessName !== undefined && locked.account.accountType !== 'business') {
      const message = 'Value error, only a business account has a business name';
      throw invalidField(['body', 'business_name'], 'value_error', message);
    }
    if (businessName !== undefined) await requireRenaming(trx, userId);
    if (Object.keys(change).length > 0) await updateProfile(trx, userId, change);
    if (businessName === undefined || businessName === locked.account.businessName) act.changedNothing();
    else {
      const target = { type: 'organization', id: userId, name: businessName };
      await recordAct(trx, act, { ...target, organizationId: userId });
    }
    return { ...locked.account, ...change };
  });
};

/** Throws `role_not_allowed` if the account may no longer rename the organization that it opened. */
const requireRenaming = async (trx: Transaction, organizationId: string): Promise<void> => {
  const acting = await findActingMembership(trx, { organizationId, userId: organizationId });
  if (acting === undefined) throw new AppError('invalid_token');
  requireRole(toActingFor(acting), 'admin');
};

/** Converts the account to a business and renews the caller's session, whose token names the account type. */
const upgradeToBusiness = async (
  deps: ChangeProfileDeps,
  caller: { userId: string; sessionId: string },
  businessName: string,
): Promise<RenewedSession> => {
  const account = await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, caller.userId);
    if (locked === undefined) throw new AppError('invalid_token');
    const change = { accountType: 'business', businessName } as const;
    await updateProfile(trx, caller.userId, change);
    // A business that was upgraded before has members, and perhaps not its own sign-in any more.
    if (locked.account.accountType === 'business') await requireRenaming(trx, caller.userId);
    else await insertMembership(trx, foundersMembership(deps, caller.userId, deps.clock()));
    return { ...locked.account, ...change };
  });
  const session = await findSessionById(deps.database, caller.sessionId);
  if (session === undefined) throw new AppError('invalid_token');
  return await renewSession(deps, session, account);
};

/** Binds the routes of the profile. */
export const profileRoutes = (deps: ChangeProfileDeps): Binding[] => [
  bind(routes.updateAccount, async ({ body, caller, act }) => {
    const changed = await changeProfile(deps, { userId: caller.userId, body, act });
    return { status: 200, body: { account: await describeAccount(deps.database, changed, caller.organization?.id) } };
  }),
  bind(routes.upgradeAccount, async ({ body, caller, res }) => {
    const renewed = await upgradeToBusiness(deps, caller, body.business_name);
    res.appendHeader('set-cookie', renewedSessionCookies(renewed.token, deps.publicBaseUrl));
    return { status: 200, body: toSessionJson(renewed, deps.clock()) };
  }),
];

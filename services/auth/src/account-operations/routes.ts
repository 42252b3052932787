import { accountOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { OWN_ORIGIN } from '../connections/index.ts';
import { announceErasures, type ScheduleErasureDeps, scheduleErasure } from '../erasure/index.ts';
import { type FactorsDeps, resetFactors } from '../factors/index.ts';
import { requireOwnersElsewhere } from '../members/index.ts';
import { type EndAccountSessionsDeps, endAccountSessions } from './end-account-sessions.ts';
import { findAccount } from './find-account.ts';

export interface AccountOperationsDeps
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

import type { newId } from '@svc/contracts';
import type { Clock } from '../clock.ts';
import { endGrant, originOf } from '../connections/index.ts';
import type { Transact } from '../transact.ts';
import type { Exchange, ExchangeOutcome } from './queries.ts';
import type { TokenWork } from './token-work.ts';

export interface CommitTokenWorkDeps {
  exchange: (exchange: Exchange) => Promise<ExchangeOutcome>;
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
}

/**
 * Commits what a token answer rests on: the code or token is used up and the new refresh token stored, or nothing is.
 * The answer may go out only if the outcome is `issued`.
 */
export const commitTokenWork = async (deps: CommitTokenWorkDeps, work: TokenWork): Promise<ExchangeOutcome> => {
  const { consumption, refreshToken } = work;
  if (consumption === undefined || refreshToken === undefined) throw new Error('a token answer rests on nothing');
  if (consumption.grantId !== refreshToken.grantId) throw new Error('a refresh token belongs to another grant');
  return await deps.exchange({ consumption, refreshToken });
};

/** Ends the grants that a request gave cause to end, each with its revocation. */
export const endGrantsOfWork = async (
  deps: Pick<CommitTokenWorkDeps, 'transact' | 'clock' | 'newId'>,
  work: TokenWork,
  clientAddress: string,
): Promise<void> => {
  const action = work.detectsReuse ? 'token_reused' : 'revoked_by_app';
  const cause = { action, origin: originOf(clientAddress, 'app'), now: deps.clock() } as const;
  for (const grantId of work.endedGrantIds) await deps.transact((trx) => endGrant(deps, trx, grantId, cause));
};

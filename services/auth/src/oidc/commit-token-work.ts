import type { newId } from '@svc/contracts';
import type { Clock } from '../clock.ts';
import { endGrant, originOf, useGrant } from '../connections/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { type Exchange, insertRefreshToken, useUp } from './queries.ts';
import { judgeRefreshUse } from './refresh-grace.ts';
import { readTokenStates } from './token-state.ts';
import type { TokenWork } from './token-work.ts';

/** What committing needs. */
export interface CommitTokenWorkDeps {
  /** Makes exchanges that nobody competes for; false leaves everything as it was. */
  exchangeUnused: (exchange: Exchange) => Promise<boolean>;
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
}

/** What became of a request: `reused` means that another request used up the same code or token first. */
export type TokenWorkOutcome = 'issued' | 'grant_ended' | 'reused';

/**
 * Writes what a token answer rests on, all or nothing: the code or token is used up, and the new refresh token stored. Only
 * then may the answer go out. Competing requests take turns on the grant's row, so at most one of them is the first.
 */
export const commitTokenWork = async (deps: CommitTokenWorkDeps, work: TokenWork): Promise<TokenWorkOutcome> => {
  const { consumption, refreshToken } = work;
  if (consumption === undefined || refreshToken === undefined) throw new Error('a token answer rests on nothing');
  if (consumption.grantId !== refreshToken.grantId) throw new Error('a refresh token belongs to another grant');
  if (await deps.exchangeUnused({ consumption, refreshToken })) return 'issued';
  const graceSeconds = work.app?.refreshGraceSeconds ?? 0;
  try {
    return await deps.transact((trx) =>
      exchangeInTurn(trx, { consumption, refreshToken, graceSeconds, now: deps.clock() }),
    );
  } catch (error) {
    if (error instanceof Reused) return 'reused';
    throw error;
  }
};

/** Rolls the transaction back; the grant ends in another one, which takes its locks in their order. */
class Reused extends Error {
  override readonly name = 'Reused';
}

interface ContestedExchange extends Exchange {
  graceSeconds: number;
  now: Date;
}

/** Waits for those who are busy with the grant, then judges: a code is used once, a refresh token also within its grace. */
const exchangeInTurn = async (trx: Transaction, exchange: ContestedExchange): Promise<TokenWorkOutcome> => {
  const { consumption, refreshToken, now } = exchange;
  if (!(await useGrant(trx, consumption.grantId, now))) return 'grant_ended';
  if (!(await useUp(trx, consumption, now))) {
    if (consumption.kind === 'authorization_code') throw new Reused();
    const [state] = await readTokenStates(trx, [{ clientId: null, code: null, refreshToken: consumption.digest }]);
    // Its app was suspended just now.
    if (state?.refreshToken === undefined) return 'grant_ended';
    if (judgeRefreshUse(state.refreshToken, exchange.graceSeconds, now) !== 'within_grace') throw new Reused();
  }
  await insertRefreshToken(trx, refreshToken);
  return 'issued';
};

/** Ends the grants that a request has given cause to end, each with its revocation. */
export const endGrantsOfWork = async (
  deps: Pick<CommitTokenWorkDeps, 'transact' | 'clock' | 'newId'>,
  work: TokenWork,
  clientAddress: string,
): Promise<void> => {
  const action = work.detectsReuse ? 'token_reused' : 'revoked_by_app';
  const cause = { action, origin: originOf(clientAddress, 'app'), now: deps.clock() } as const;
  for (const grantId of work.endedGrantIds) await deps.transact((trx) => endGrant(deps, trx, grantId, cause));
};

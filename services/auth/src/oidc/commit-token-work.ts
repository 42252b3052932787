import type { Clock } from '../clock.ts';
import { endGrant, originOf, useGrant } from '../connections/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { exchangeUnused, findRefreshToken, insertRefreshToken } from './queries.ts';
import { judgeRefreshUse } from './refresh-grace.ts';
import type { Consumption, NewRefreshToken, TokenWork } from './token-work.ts';

/** What committing needs. */
export interface CommitTokenWorkDeps {
  database: Executor;
  transact: Transact;
  clock: Clock;
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
  const now = deps.clock();
  if (await exchangeUnused(deps.database, { consumption, refreshToken, now })) return 'issued';
  const graceSeconds = work.app?.refreshGraceSeconds ?? 0;
  try {
    return await deps.transact((trx) => issueAgain(trx, { consumption, refreshToken, graceSeconds, now }));
  } catch (error) {
    if (error instanceof Reused) return 'reused';
    throw error;
  }
};

/** Rolls the transaction back; the grant ends in another one, which takes its locks in their order. */
class Reused extends Error {
  override readonly name = 'Reused';
}

interface Issue {
  consumption: Consumption;
  refreshToken: NewRefreshToken;
  graceSeconds: number;
  now: Date;
}

/** Judges what was used before: a code never again, a refresh token within its grace. */
const issueAgain = async (trx: Transaction, input: Issue): Promise<TokenWorkOutcome> => {
  const { consumption, refreshToken, graceSeconds, now } = input;
  if (!(await useGrant(trx, consumption.grantId, now))) return 'grant_ended';
  if (consumption.kind === 'authorization_code') throw new Reused();
  const token = await findRefreshToken(trx, consumption.digest);
  if (token === undefined) throw new Error('a refresh token vanished while its grant holds');
  const use = judgeRefreshUse(token, graceSeconds, now);
  if (use === 'reuse') throw new Reused();
  if (use === 'first') throw new Error('an unused refresh token of a grant that holds was refused');
  await insertRefreshToken(trx, refreshToken);
  return 'issued';
};

/** Ends the grants that a request has given cause to end, each with its revocation. */
export const endGrantsOfWork = async (
  deps: CommitTokenWorkDeps,
  work: TokenWork,
  clientAddress: string,
): Promise<void> => {
  const action = work.detectsReuse ? 'token_reused' : 'revoked_by_app';
  const cause = { action, origin: originOf(clientAddress, 'app'), now: deps.clock() } as const;
  for (const grantId of work.endedGrantIds) await deps.transact((trx) => endGrant(trx, grantId, cause));
};

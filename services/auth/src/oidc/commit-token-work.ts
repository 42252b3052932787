import { AppError } from '@svc/service-kit';
import type { Clock } from '../clock.ts';
import { endGrant, useGrant } from '../connections/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { consumeCode, consumeRefreshToken, findRefreshToken, insertRefreshToken } from './queries.ts';
import { judgeRefreshUse } from './refresh-grace.ts';
import type { Consumption, NewRefreshToken, TokenWork } from './token-work.ts';

/** What committing needs. */
export interface CommitTokenWorkDeps {
  transact: Transact;
  clock: Clock;
}

/** What became of a request: `reused` means that another request used up the same code or token first. */
export type TokenWorkOutcome = 'issued' | 'grant_ended' | 'reused';

/**
 * Writes in one transaction what a token answer rests on: the code or token is used up, and the new refresh token stored.
 * Only then may the answer go out. Competing requests take turns on the grant's row, so at most one of them wins.
 */
export const commitTokenWork = async (deps: CommitTokenWorkDeps, work: TokenWork): Promise<TokenWorkOutcome> => {
  const { consumption, refreshToken } = work;
  if (consumption === undefined || refreshToken === undefined) throw new Error('a token answer rests on nothing');
  const graceSeconds = work.app?.refreshGraceSeconds ?? 0;
  try {
    return await deps.transact((trx) => issue(trx, { consumption, refreshToken, graceSeconds, now: deps.clock() }));
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

const issue = async (trx: Transaction, input: Issue): Promise<TokenWorkOutcome> => {
  const { consumption, refreshToken, now } = input;
  if (consumption.grantId !== refreshToken.grantId) throw new Error('a refresh token belongs to another grant');
  const grant = await useGrant(trx, consumption.grantId, now);
  if (grant === undefined) return 'grant_ended';
  if (consumption.kind === 'authorization_code') {
    if (!(await consumeCode(trx, consumption.digest, now))) throw new Reused();
  } else {
    await useRefreshToken(trx, input);
  }
  await insertRefreshToken(trx, refreshToken);
  return 'issued';
};

const useRefreshToken = async (trx: Transaction, { consumption, graceSeconds, now }: Issue): Promise<void> => {
  const token = await findRefreshToken(trx, consumption.digest);
  if (token === undefined) throw new AppError('internal_error', undefined, { cause: new Error('a token vanished') });
  if (judgeRefreshUse(token, graceSeconds, now) === 'reuse') throw new Reused();
  await consumeRefreshToken(trx, consumption.digest, now);
};

/** Ends the grants that a request has given cause to end, each with its revocation. */
export const endGrantsOfWork = async (deps: CommitTokenWorkDeps, work: TokenWork): Promise<void> => {
  for (const grantId of work.endedGrantIds) await deps.transact((trx) => endGrant(trx, grantId));
};

import { setTimeout as sleep } from 'node:timers/promises';
import { LEASES_MAX, type LeaseAnswer, type LeaseAsk, type RecalledLeases } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { LeaseMeters } from './meters.ts';
import { type AskedLease, askLeases, listHoldingLeases, listLeaseHolders, reportLeases } from './queries.ts';
import type { RecallLeases } from './recall-leases.ts';

export interface LeaseDeps {
  readonly database: Knex;
  readonly recallLeases: RecallLeases;
  readonly leaseMeters: LeaseMeters;
  readonly logger: Logger;
}

/** Tries after a recall, if the wallet is locked then. */
const TRIES_MAX = 10;
const RETRY_MS = 5;
const NOTHING = { micros: 0, requests: 0, tokens: 0 };

/**
 * Reports leases, and grants them what their requests need. Before a request is refused, the unspent parts of other leases
 * are recalled and the request is decided again. A lease whose wallet is locked is answered `busy` at once.
 */
export const grantLeases = async (
  deps: LeaseDeps,
  holderId: string,
  asks: readonly LeaseAsk[],
): Promise<readonly LeaseAnswer[]> => {
  const first = await askLeases(deps.database, holderId, asks);
  const recalled = [...new Set(first.flatMap((asked) => asked.recalled ?? []))];
  const answers = first.map(({ answer }) => answer);
  if (recalled.length > 0) {
    const reports = await recallAll(deps, recalled);
    await Promise.all(
      first.map(async (asked, place) => {
        const ask = asks[place];
        const leases = new Set(asked.recalled);
        if (ask === undefined || leases.size === 0) return;
        const given = reports.filter(({ lease_id }) => leases.has(lease_id));
        answers[place] = await askAgain(deps, holderId, { ask, asked, given });
      }),
    );
  }
  for (const { state, decisions } of answers) {
    if (state === 'busy') deps.leaseMeters.busy();
    for (const { verdict } of decisions) deps.leaseMeters.decision(verdict);
  }
  return answers;
};

/** Recalls what leases hold unspent of a wallet that something else needs. Returns false if there are none. */
export const recallWallet = async (deps: LeaseDeps, userId: string): Promise<boolean> => {
  const leaseIds = await listHoldingLeases(deps.database, userId, LEASES_MAX);
  await giveBack(deps, leaseIds);
  return leaseIds.length > 0;
};

/** Recalls leases, and frees what they hold unspent. */
export const giveBack = async (deps: LeaseDeps, leaseIds: readonly string[]): Promise<void> => {
  let unapplied = leaseIds.length > 0 ? await recallAll(deps, leaseIds) : [];
  for (let tries = 1; unapplied.length > 0 && tries <= TRIES_MAX; tries += 1) {
    if (tries > 1) await sleep(RETRY_MS);
    unapplied = await reportLeases(deps.database, unapplied);
  }
};

const recallAll = async (deps: LeaseDeps, leaseIds: readonly string[]): Promise<RecalledLeases['leases']> => {
  const holders = await listLeaseHolders(deps.database, leaseIds);
  const reports = await Promise.all(
    holders.map(async (holder) => {
      try {
        const leases = await deps.recallLeases(holder);
        deps.leaseMeters.recall('answered');
        return leases;
      } catch (error) {
        deps.leaseMeters.recall('silent');
        deps.logger.warn({ err: error }, 'a gateway process did not answer the recall of its leases');
        return [];
      }
    }),
  );
  return reports.flat();
};

/**
 * Decides again on the requests of an ask that were refused, once everything is applied that other leases have given up for
 * them. A wallet that stays locked is `busy`: nothing is refused for what was given up already.
 */
const askAgain = async (
  { database }: LeaseDeps,
  holderId: string,
  {
    ask,
    asked,
    given,
  }: { readonly ask: LeaseAsk; readonly asked: AskedLease; readonly given: RecalledLeases['leases'] },
): Promise<LeaseAnswer> => {
  const { decisions } = asked.answer;
  const isRefused = (place: number): boolean =>
    decisions[place]?.verdict !== 'granted' && decisions[place]?.verdict !== 'duplicate_request';
  const retry = {
    ...ask,
    needs: ask.needs.filter((_, place) => isRefused(place)),
    wanted: NOTHING,
    has_recalled: true,
  };
  let unapplied = given;
  for (let tries = 1; ; tries += 1) {
    unapplied = await reportLeases(database, unapplied);
    const [again] = unapplied.length > 0 ? [] : await askLeases(database, holderId, [retry]);
    if (again !== undefined && again.answer.state !== 'busy') {
      const decided = [...again.answer.decisions];
      return {
        ...again.answer,
        decisions: decisions.map((one, place) => (isRefused(place) ? (decided.shift() ?? one) : one)),
      };
    }
    if (tries === TRIES_MAX) return { ...asked.answer, state: 'busy', decisions: [] };
    await sleep(RETRY_MS);
  }
};

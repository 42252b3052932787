import { setTimeout as sleep } from 'node:timers/promises';
import {
  internalRoutes,
  LEASES_MAX,
  type LeaseAnswer,
  type LeaseAsk,
  type LeaseDecision,
  type LeaseReport,
  type RecalledLeases,
} from '@svc/contracts';
import { createInternalClient, type InternalClient, type Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { LeaseMeters } from './meters.ts';
import {
  type AskedLease,
  askLeases,
  type LeaseHolder,
  listLeaseHolders,
  pauseHoldingLeases,
  reportLeases,
} from './queries.ts';

export interface LeaseDeps {
  readonly database: Knex;
  readonly recallLeases: RecallLeases;
  readonly leaseMeters: LeaseMeters;
  readonly logger: Logger;
}

/** Recalls for one ask. */
const RECALLS_MAX = 3;
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
  const leaseIds = await pauseHoldingLeases(deps.database, userId, LEASES_MAX);
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

interface Asked {
  readonly ask: LeaseAsk;
  readonly asked: AskedLease;
  /** Reports of other leases, which have given up something for it. */
  readonly given: RecalledLeases['leases'];
}

/**
 * Decides again on the requests of an ask that were refused, once everything is applied that other leases have given up for
 * them. Another request may take that first, while more is given up: leases are recalled again as long as they give up more. A
 * wallet that stays locked is `busy`: nothing is refused for what was given up already.
 */
const askAgain = async (deps: LeaseDeps, holderId: string, { ask, asked, given }: Asked): Promise<LeaseAnswer> => {
  const decisions = [...asked.answer.decisions];
  let { answer } = asked;
  let reports = given;
  for (let recalls = 1; ; recalls += 1) {
    const refused = [...decisions.keys()].filter((place) => isRefused(decisions[place]));
    const needs = refused.flatMap((place) => ask.needs[place] ?? []);
    const again = await decideAgain(deps.database, holderId, { ask: { ...ask, needs }, given: reports });
    if (again === undefined) return { ...answer, state: 'busy', decisions: [] };
    ({ answer } = again);
    for (const [index, place] of refused.entries()) {
      const decided = answer.decisions[index];
      if (decided !== undefined) decisions[place] = decided;
    }
    if (recalls === RECALLS_MAX) return { ...answer, decisions };
    const more = await recallFor(deps, again);
    const earlier = new Map(reports.map(({ lease_id, report }) => [lease_id, report]));
    if (!more.some(({ lease_id, report }) => givesMore(report, earlier.get(lease_id)))) return { ...answer, decisions };
    reports = more;
  }
};

/** Recalls the leases that a refused request needs. */
const recallFor = async (deps: LeaseDeps, { recalled }: AskedLease): Promise<RecalledLeases['leases']> => {
  const leaseIds = new Set(recalled);
  const reports = leaseIds.size > 0 ? await recallAll(deps, [...leaseIds]) : [];
  return reports.filter(({ lease_id }) => leaseIds.has(lease_id));
};

const isRefused = (decision: LeaseDecision | undefined): boolean =>
  decision?.verdict !== 'granted' && decision?.verdict !== 'duplicate_request';

const givesMore = (report: LeaseReport, earlier: LeaseReport | undefined): boolean =>
  report.returned_micros > (earlier?.returned_micros ?? 0) ||
  (report.returned_in_minute?.requests ?? 0) > (earlier?.returned_in_minute?.requests ?? 0) ||
  (report.returned_in_minute?.tokens ?? 0) > (earlier?.returned_in_minute?.tokens ?? 0);

/** Applies reports and decides on an ask after them. Returns undefined for a wallet that stays locked. */
const decideAgain = async (
  database: Knex,
  holderId: string,
  { ask, given }: Pick<Asked, 'ask' | 'given'>,
): Promise<AskedLease | undefined> => {
  let unapplied = given;
  for (let tries = 1; ; tries += 1) {
    unapplied = await reportLeases(database, unapplied);
    const retry = { ...ask, wanted: NOTHING, has_recalled: true };
    const [again] = unapplied.length > 0 ? [] : await askLeases(database, holderId, [retry]);
    if (again !== undefined && again.answer.state !== 'busy') return again;
    if (tries === TRIES_MAX) return undefined;
    await sleep(RETRY_MS);
  }
};

/**
 * Gives back what a holder's leases hold unspent. Rejects if the holder does not answer in time. One that was silent within the
 * last second is not waited for: it gives back nothing.
 */
export type RecallLeases = (holder: LeaseHolder) => Promise<RecalledLeases['leases']>;

/** A holder that has not answered by then counts as holding everything. */
const RECALL_TIMEOUT_MS = 100;
/** A silent holder delays one refusal in this time. */
const SILENCE_MS = 1_000;
/** Holders with open connections. Beyond it, the one that was recalled least recently is closed. */
const GATEWAYS_MAX = 200;
const CONNECTIONS_MAX = 4;

interface Gateway {
  readonly client: InternalClient;
  /** Time of the last call that it did not answer; undefined once it answers. */
  silentAtMs: number | undefined;
}

export interface LeaseRecalls {
  readonly recall: RecallLeases;
  readonly close: () => Promise<void>;
}

/** Creates the client of holders' internal listeners. */
export const createLeaseRecalls = ({
  token,
  logger,
  timeoutMs = RECALL_TIMEOUT_MS,
  monotonicMs = () => performance.now(),
}: {
  readonly token: string;
  readonly logger: Logger;
  readonly timeoutMs?: number;
  readonly monotonicMs?: () => number;
}): LeaseRecalls => {
  const gateways = new Map<string, Gateway>();
  const gatewayOf = (baseUrl: string): Gateway => {
    const gateway = gateways.get(baseUrl) ?? {
      client: createInternalClient({ baseUrl, token, timeoutMs, connectionsMax: CONNECTIONS_MAX }),
      silentAtMs: undefined,
    };
    gateways.delete(baseUrl);
    gateways.set(baseUrl, gateway);
    const [oldest] = gateways;
    if (gateways.size > GATEWAYS_MAX && oldest !== undefined) {
      gateways.delete(oldest[0]);
      oldest[1].client
        .close()
        .catch((error: unknown) => logger.warn({ err: error }, 'a connection to a gateway did not close'));
    }
    return gateway;
  };
  return {
    recall: async ({ internalUrl, leaseIds }) => {
      const gateway = gatewayOf(internalUrl);
      if (gateway.silentAtMs !== undefined) {
        if (monotonicMs() - gateway.silentAtMs < SILENCE_MS) return [];
        gateway.silentAtMs = monotonicMs();
      }
      try {
        const leases = await callInParts(gateway.client, leaseIds);
        gateway.silentAtMs = undefined;
        return leases;
      } catch (error) {
        gateway.silentAtMs = monotonicMs();
        throw error;
      }
    },
    close: async () => {
      await Promise.all([...gateways.values()].map(({ client }) => client.close()));
      gateways.clear();
    },
  };
};

/** Recalls leases in calls of at most `LEASES_MAX`. Omits reports of other leases than these. */
const callInParts = async (client: InternalClient, leaseIds: readonly string[]): Promise<RecalledLeases['leases']> => {
  const parts: string[][] = [];
  for (let from = 0; from < leaseIds.length; from += LEASES_MAX) parts.push(leaseIds.slice(from, from + LEASES_MAX));
  const recalled = await Promise.all(
    parts.map(
      async (lease_ids) => (await client.call(internalRoutes.recallLeases, { body: { lease_ids } })).body.leases,
    ),
  );
  const wanted = new Set(leaseIds);
  return recalled.flat().filter(({ lease_id }) => wanted.has(lease_id));
};

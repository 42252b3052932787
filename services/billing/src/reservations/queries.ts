import type { ReservationState, SubscriptionStatus, UncertainReservation } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { AdmissionVerdict, RequestRecord, SettledRequest } from './reservation.ts';
import type { WindowTerms } from './windows.ts';

/** What admission of a delegated request is asked. */
export interface DelegatedQuestion {
  readonly requestId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly service: string;
  readonly estimateMicros: number;
  readonly idempotencyKey: string | null;
}

/** The answer of `admit_delegated`. */
export interface DelegatedAnswer {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
}

const ADMIT_DELEGATED = {
  name: 'admit_delegated',
  text: 'SELECT * FROM admit_delegated($1, $2, $3, $4, $5, $6, make_interval(days => $7))',
};
const ADMIT_ONE_DELEGATED = {
  name: 'admit_one_delegated',
  text: 'SELECT * FROM admit_one_delegated($1, $2, $3, $4, $5, $6, make_interval(days => $7))',
};
const ADMIT_DELEGATED_MANY = {
  name: 'admit_delegated_many',
  text: 'SELECT * FROM admit_delegated_many($1, $2, $3, $4, $5, $6, make_interval(days => $7))',
};

/** Decides on a delegated request in one round trip. */
export const admitDelegated = async (
  database: Knex,
  question: DelegatedQuestion,
  graceDays: number,
): Promise<DelegatedAnswer> => {
  return onlyRow(await runPrepared<DelegatedAnswer>(database, ADMIT_DELEGATED, delegatedValues(question, graceDays)));
};

/** Decides on delegated requests in one round trip; answers in their order. Gives up soon where a row is held. */
export const admitDelegatedMany = async (
  database: Knex,
  questions: readonly DelegatedQuestion[],
  graceDays: number,
): Promise<DelegatedAnswer[]> => {
  const [only] = questions;
  if (only !== undefined && questions.length === 1) {
    return await runPrepared<DelegatedAnswer>(database, ADMIT_ONE_DELEGATED, delegatedValues(only, graceDays));
  }
  const rows = await runPrepared<Placed<DelegatedAnswer>>(database, ADMIT_DELEGATED_MANY, [
    questions.map(({ requestId }) => requestId),
    questions.map(({ userId }) => userId),
    questions.map(({ clientId }) => clientId),
    questions.map(({ service }) => service),
    questions.map(({ estimateMicros }) => estimateMicros),
    questions.map(({ idempotencyKey }) => idempotencyKey),
    graceDays,
  ]);
  return inOrder(rows);
};

const delegatedValues = (question: DelegatedQuestion, graceDays: number) => [
  ...[question.requestId, question.userId, question.clientId, question.service],
  ...[question.estimateMicros, question.idempotencyKey, graceDays],
];

/** What admission of an API-key request is asked. */
export interface KeyedQuestion {
  readonly requestId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly holdMicros: number;
  readonly requestsPerMinute: number | null;
  readonly monthlyLimitMicros: number | null;
}

/** The answer of `admit_keyed`; the rate is null where the key has none. */
export interface KeyedAnswer {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly rate_remaining: number | null;
  readonly rate_reset_ms: number;
}

const ADMIT_KEYED = { name: 'admit_keyed', text: 'SELECT * FROM admit_keyed($1, $2, $3, $4, $5, $6)' };
const ADMIT_ONE_KEYED = { name: 'admit_one_keyed', text: 'SELECT * FROM admit_one_keyed($1, $2, $3, $4, $5, $6)' };
const ADMIT_KEYED_MANY = {
  name: 'admit_keyed_many',
  text: 'SELECT * FROM admit_keyed_many($1, $2, $3, $4, $5, $6)',
};

/** Decides on an API-key request in one round trip. */
export const admitKeyed = async (database: Knex, question: KeyedQuestion): Promise<KeyedAnswer> => {
  return onlyRow(await runPrepared<KeyedAnswer>(database, ADMIT_KEYED, keyedValues(question)));
};

/** As `admitDelegatedMany`, for API-key requests. */
export const admitKeyedMany = async (database: Knex, questions: readonly KeyedQuestion[]): Promise<KeyedAnswer[]> => {
  const [only] = questions;
  if (only !== undefined && questions.length === 1) {
    return await runPrepared<KeyedAnswer>(database, ADMIT_ONE_KEYED, keyedValues(only));
  }
  const rows = await runPrepared<Placed<KeyedAnswer>>(database, ADMIT_KEYED_MANY, [
    questions.map(({ requestId }) => requestId),
    questions.map(({ userId }) => userId),
    questions.map(({ keyId }) => keyId),
    questions.map(({ holdMicros }) => holdMicros),
    questions.map(({ requestsPerMinute }) => requestsPerMinute),
    questions.map(({ monthlyLimitMicros }) => monthlyLimitMicros),
  ]);
  return inOrder(rows);
};

const keyedValues = (question: KeyedQuestion) => [
  ...[question.requestId, question.userId, question.keyId],
  ...[question.holdMicros, question.requestsPerMinute, question.monthlyLimitMicros],
];

/** An answer with the place of its question, from 1; groups are answered in the order of their owners. */
type Placed<T> = T & { readonly place: number };

const inOrder = <T>(rows: Placed<T>[]): T[] => rows.sort((one, other) => one.place - other.place);

/** One settlement as the database is told it; `estimate` is what only the sweep says. */
export interface SettlementInput {
  readonly requestId: string;
  readonly outcome: 'settled' | 'released' | 'uncertain' | 'estimate';
  readonly costMicros: number | null;
}

const SETTLE_MANY = { name: 'settle_many', text: 'SELECT * FROM settle_many($1, $2, $3, $4)' };
const SETTLE_ONE = { name: 'settle_one', text: 'SELECT * FROM settle_one($1, $2, $3, $4)' };
const SETTLE_TOGETHER = { name: 'settle_together', text: 'SELECT * FROM settle_together($1, $2, $3, $4)' };

interface SettlementRow extends Pick<SettledRequest, 'state' | 'effect'> {
  readonly request_id: string;
  readonly over_hold_micros: number | null;
}

/** Ends reservations, in the order given. Together: those of several callers, given up soon where a row is held. */
export const settleMany = async (
  database: Knex,
  settlements: readonly SettlementInput[],
  { currency, isTogether = false }: { currency: string; isTogether?: boolean },
): Promise<SettledRequest[]> => {
  const [only] = settlements;
  const isAlone = isTogether && settlements.length === 1 && only !== undefined;
  const rows = isAlone
    ? await runPrepared<SettlementRow>(database, SETTLE_ONE, [only.requestId, only.outcome, only.costMicros, currency])
    : await runPrepared<SettlementRow>(database, isTogether ? SETTLE_TOGETHER : SETTLE_MANY, [
        settlements.map(({ requestId }) => requestId),
        settlements.map(({ outcome }) => outcome),
        settlements.map(({ costMicros }) => costMicros),
        currency,
      ]);
  return rows.map(({ request_id, over_hold_micros, state, effect }) => ({
    ...{ requestId: request_id, state, effect },
    overHoldMicros: over_hold_micros ?? 0,
  }));
};

/** Takes the ids of requests that were given up before they were admitted; answers those that were admitted meanwhile. */
export const giveUpRequests = async (database: Knex, requestIds: readonly string[]): Promise<string[]> => {
  const { rows } = await database.raw<{ rows: { id: string }[] }>('SELECT give_up_requests(?::text[]) AS id', [
    [...requestIds],
  ]);
  return rows.map(({ id }) => id);
};

/** Requests that have been without an outcome for longer than this, oldest first. */
export const listOverdueReserved = async (database: Knex, ageSeconds: number, limit: number): Promise<string[]> => {
  return await database('reservations')
    .where({ state: 'reserved' })
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('created_at')
    .limit(limit)
    .pluck('request_id');
};

/** Requests that have been uncertain for longer than this, oldest first. */
export const listOverdueUncertain = async (database: Knex, ageSeconds: number, limit: number): Promise<string[]> => {
  return await database('reservations')
    .where({ state: 'uncertain' })
    .whereRaw('uncertain_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('uncertain_at')
    .limit(limit)
    .pluck('request_id');
};

interface UncertainRow extends Pick<UncertainReservation, 'request_id' | 'svc_user_id' | 'estimate_micros'> {
  readonly kind: string;
  readonly service: string | null;
  readonly created_at: Date;
  readonly uncertain_at: Date;
}

/** A page of uncertain reservations on the wire, oldest first; `after` names the last one already seen. */
export const listUncertain = async (
  database: Knex,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<UncertainReservation[]> => {
  const rows: UncertainRow[] = await database('reservations')
    .where({ state: 'uncertain' })
    .modify((query) => {
      if (after === undefined) return;
      const seen = database('reservations').select('uncertain_at', 'request_id').where({ request_id: after });
      query.whereRaw('(uncertain_at, request_id) > (?)', [seen]);
    })
    .orderBy(['uncertain_at', 'request_id'])
    .limit(limit)
    .select('request_id', 'kind', 'svc_user_id', 'service', 'estimate_micros', 'created_at', 'uncertain_at');
  return rows.map(({ kind, service, created_at, uncertain_at, ...row }) => ({
    ...row,
    service: service ?? kind,
    created_at: created_at.toISOString(),
    uncertain_at: uncertain_at.toISOString(),
  }));
};

/** The state of a reservation; undefined where there is none. */
export const findReservationState = async (
  database: Knex,
  requestId: string,
): Promise<ReservationState | undefined> => {
  const row = await database('reservations').where({ request_id: requestId }).first('state');
  return row?.state;
};

/** How many reservations are open, for the metrics. */
export const countOpen = async (database: Knex): Promise<{ reserved: number; uncertain: number }> => {
  const { rows } = await database.raw<{ rows: { reserved: number; uncertain: number }[] }>(
    `SELECT (SELECT count(*) FROM reservations WHERE state = 'reserved') AS reserved,
            (SELECT count(*) FROM reservations WHERE state = 'uncertain') AS uncertain`,
  );
  return onlyRow(rows);
};

/** Keeps usage told of requests that were never admitted; the same telling is kept once. */
export const insertUnadmitted = async (
  trx: Knex.Transaction,
  usage: readonly { requestId: string; eventId: string; fact: object }[],
): Promise<void> => {
  if (usage.length === 0) return;
  const rows = usage.map(({ requestId, eventId, fact }) => ({
    request_id: requestId,
    event_id: eventId,
    fact: JSON.stringify(fact),
    received_at: trx.raw('billing_now()'),
  }));
  await trx('unadmitted_usage').insert(rows).onConflict().ignore();
};

/** A delegated request of this user through this app. */
export const findRequestByOwner = async (
  database: Knex,
  requestId: string,
  owner: { userId: string; clientId: string },
): Promise<RequestRecord | undefined> => {
  const row = await database('reservations')
    .where({ request_id: requestId, svc_user_id: owner.userId, client_id: owner.clientId })
    .first('state', 'cost_micros', 'created_at', 'ended_at');
  if (row === undefined) return undefined;
  return {
    requestId,
    state: row.state,
    costMicros: row.cost_micros,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
};

/** How requests stand, in the given order; null where one was never admitted. */
export const listRequestStates = async (
  database: Knex,
  requestIds: readonly string[],
): Promise<(Pick<RequestRecord, 'state' | 'costMicros'> | null)[]> => {
  const rows: { request_id: string; state: ReservationState; cost_micros: number | null }[] = await database(
    'reservations',
  )
    .whereIn('request_id', requestIds)
    .select('request_id', 'state', 'cost_micros');
  const found = new Map(rows.map((row) => [row.request_id, { state: row.state, costMicros: row.cost_micros }]));
  return requestIds.map((requestId) => found.get(requestId) ?? null);
};

/** What one app used of one service on one day. */
export interface DayUse {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly clientId: string;
  readonly service: 'chat' | 'audio_transcription';
  readonly requests: number;
  readonly costMicros: number;
}

/** Use of an account by day, app and service, oldest day first, from so many days up to today; and what day today is. */
export const listDayUse = async (
  database: Knex,
  userId: string,
  days: number,
): Promise<{ today: string; uses: DayUse[] }> => {
  const { rows } = await database.raw<{ rows: { today: string; uses: DayUse[] }[] }>(
    `SELECT to_char(t.day, 'YYYY-MM-DD') AS today, (
       SELECT coalesce(jsonb_agg(jsonb_build_object('day', to_char(d.day, 'YYYY-MM-DD'), 'clientId', d.client_id,
         'service', d.service, 'requests', d.requests, 'costMicros', d.cost_micros) ORDER BY d.day, d.cost_micros DESC), '[]')
       FROM usage_days AS d WHERE d.svc_user_id = ? AND d.day > t.day - ?::int AND d.day <= t.day) AS uses
     FROM (SELECT (billing_now() AT TIME ZONE 'UTC')::date AS day) AS t`,
    [userId, days],
  );
  return onlyRow(rows);
};

/** An account's row, with the database's time at which it was read. */
export interface AccountRow {
  readonly at: Date;
  readonly admits: boolean;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly terms: WindowTerms;
  readonly week: { readonly end: Date; readonly usedMicros: number };
  readonly month: { readonly end: Date; readonly usedMicros: number };
  readonly pending: number;
}

/** Reads an account's row. */
export const findAccount = async (
  database: Knex,
  userId: string,
  graceDays: number,
): Promise<AccountRow | undefined> => {
  const row = await database('accounts')
    .where({ svc_user_id: userId })
    .first(
      '*',
      database.raw('billing_now() AS at'),
      database.raw('status_admits(status, past_due_since, make_interval(days => ?), billing_now()) AS admits', [
        graceDays,
      ]),
    );
  if (row === undefined) return undefined;
  return {
    at: row.at,
    admits: row.admits,
    status: row.status,
    planId: row.plan_id,
    terms: {
      anchor: row.anchor,
      interval: row.interval,
      period: { start: row.period_start, end: row.period_end },
    },
    week: { end: row.week_end, usedMicros: row.week_used_micros },
    month: { end: row.month_end, usedMicros: row.month_used_micros },
    pending: row.pending,
  };
};

/** What an account is entitled to, as its current subscription says. */
export interface AccountEntitlement {
  readonly userId: string;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly pastDueSince: Date | null;
  readonly terms: WindowTerms;
}

/** Takes over an entitlement into the row that admission decides on. */
export const entitleAccount = async (trx: Knex.Transaction, entitlement: AccountEntitlement): Promise<void> => {
  const { userId, status, planId, pastDueSince, terms } = entitlement;
  await trx.raw('SELECT entitle_account(?, ?, ?, ?, ?, ?, ?, ?)', [
    ...[userId, status, planId],
    // The driver's types know no null; it is sent as NULL.
    pastDueSince as Date,
    ...[terms.anchor, terms.interval, terms.period.start, terms.period.end],
  ]);
};

const onlyRow = <T>(rows: readonly T[]): T => {
  const [row] = rows;
  if (row === undefined) throw new Error('the database answered no row where there always is one');
  return row;
};

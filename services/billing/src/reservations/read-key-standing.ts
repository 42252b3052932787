import type { Admission, KeyStandingRequest } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { limitState } from './limit-state.ts';

interface KeyStanding {
  readonly has_balance: boolean;
  readonly minute_count: number;
  readonly minute_tokens: number;
  readonly minute_reset_ms: number;
  readonly month_used_micros: number;
  readonly month_ends_at: Date;
}

/** Rolls windows as `admit_key_requests` does. */
const READ_KEY_STANDING = {
  name: 'read_key_standing',
  text: `SELECT coalesce(w.balance_micros - w.held_micros > 0, false) AS has_balance,
      coalesce(k.minute_count, 0) AS minute_count, coalesce(k.minute_tokens, 0) AS minute_tokens,
      least(60000, ceil(extract(epoch FROM coalesce(k.minute_start, c.at) + interval '60 seconds' - c.at) * 1000))::int
        AS minute_reset_ms,
      coalesce(k.month_used_micros, 0) AS month_used_micros,
      monthly_anniversary(date_trunc('month', c.at, 'UTC'), 1) AS month_ends_at
    FROM (SELECT billing_now() AS at) AS c
    LEFT JOIN wallets AS w ON w.svc_user_id = $1
    LEFT JOIN key_budgets AS b ON b.key_id = $2
    CROSS JOIN LATERAL with_current_key_windows(b, c.at) AS k`,
};

/** Reads without a lock if a key may spend anything now. Only the admission itself is exact. */
export const readKeyStanding = async (
  database: Knex,
  userId: string,
  limits: KeyStandingRequest,
): Promise<Admission> => {
  const [standing] = await runPrepared<KeyStanding>(database, READ_KEY_STANDING, [userId, limits.key_id]);
  if (standing === undefined) throw new Error('the query of a key standing returned no row');
  return { ...verdictOf(standing, limits), ...stateOf(standing, limits) };
};

const verdictOf = (standing: KeyStanding, limits: KeyStandingRequest): Pick<Admission, 'verdict' | 'resets_at'> => {
  const { requests_per_minute: requests, tokens_per_minute: tokens, monthly_limit_micros: monthly } = limits;
  const isOver = (used: number, limit: number | null | undefined): boolean =>
    typeof limit === 'number' && used >= limit;
  if (isOver(standing.minute_count, requests) || isOver(standing.minute_tokens, tokens)) {
    return { verdict: 'rate_limit_exceeded' };
  }
  if (isOver(standing.month_used_micros, monthly)) {
    return { verdict: 'key_monthly_limit_exceeded', resets_at: standing.month_ends_at.toISOString() };
  }
  return { verdict: standing.has_balance ? 'admitted' : 'insufficient_balance' };
};

const stateOf = (standing: KeyStanding, limits: KeyStandingRequest): Pick<Admission, 'rate_limit' | 'token_limit'> => {
  const { requests_per_minute: requests, tokens_per_minute: tokens } = limits;
  const left = (limit: number | null | undefined, used: number): number => Math.max(0, (limit ?? 0) - used);
  return {
    ...limitState('rate_limit', requests, left(requests, standing.minute_count), standing.minute_reset_ms),
    ...limitState('token_limit', tokens, left(tokens, standing.minute_tokens), standing.minute_reset_ms),
  };
};

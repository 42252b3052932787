import type { Admission, KeyStandingRequest } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

interface KeyStanding {
  readonly has_balance: boolean;
  readonly minute_count: number;
  readonly minute_reset_ms: number;
  readonly month_used_micros: number;
  readonly month_ends_at: Date;
}

/** Windows roll as in `admit_for_key`. */
const READ_KEY_STANDING = {
  name: 'read_key_standing',
  text: `SELECT coalesce(w.balance_micros - w.held_micros > 0, false) AS has_balance,
      CASE WHEN c.at < k.minute_start + interval '60 seconds' THEN k.minute_count ELSE 0 END AS minute_count,
      CASE WHEN c.at < k.minute_start + interval '60 seconds'
        THEN least(60000, ceil(extract(epoch FROM k.minute_start + interval '60 seconds' - c.at) * 1000))::int
        ELSE 60000 END AS minute_reset_ms,
      CASE WHEN k.month_start >= date_trunc('month', c.at, 'UTC') THEN k.month_used_micros ELSE 0 END AS month_used_micros,
      monthly_anniversary(date_trunc('month', c.at, 'UTC'), 1) AS month_ends_at
    FROM (SELECT billing_now() AS at) AS c
    LEFT JOIN wallets AS w ON w.svc_user_id = $1
    LEFT JOIN key_budgets AS k ON k.key_id = $2`,
};

/** Reads whether a key may spend anything now, without a lock. The admission itself remains the exact decision. */
export const readKeyStanding = async (
  database: Knex,
  userId: string,
  { key_id, requests_per_minute: limit, monthly_limit_micros: monthlyLimit }: KeyStandingRequest,
): Promise<Admission> => {
  const [standing] = await runPrepared<KeyStanding>(database, READ_KEY_STANDING, [userId, key_id]);
  if (standing === undefined) throw new Error('the standing of a key is one row');
  const used = standing.minute_count;
  const rate =
    limit === null
      ? {}
      : { rate_limit: { limit, remaining: Math.max(0, limit - used), reset_ms: standing.minute_reset_ms } };
  if (limit !== null && used >= limit) return { verdict: 'rate_limit_exceeded', ...rate };
  if (monthlyLimit !== null && standing.month_used_micros >= monthlyLimit) {
    return { verdict: 'key_monthly_limit_exceeded', resets_at: standing.month_ends_at.toISOString(), ...rate };
  }
  return { verdict: standing.has_balance ? 'admitted' : 'insufficient_balance', ...rate };
};

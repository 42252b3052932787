import type { Knex } from 'knex';
import { findTypicalUse } from '../reservations/index.ts';

/** Below this, a median could say too much about single people. */
const USERS_MIN = 20;

/** Reads how much of a week's plan an app typically uses, in whole percent. Null if too few people use it. */
export const readTypicalUse = async (
  database: Knex,
  clientId: string,
): Promise<{ week_share_percent: number | null }> => {
  const { users, medianShare } = await findTypicalUse(database, clientId);
  const isKnown = users >= USERS_MIN && medianShare !== null;
  return { week_share_percent: isKnown ? Math.round(medianShare * 100) : null };
};

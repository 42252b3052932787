import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import type { SandboxPortal } from './sandbox-session.ts';

/** Minutes for which a visit to the portal lasts. */
const PORTAL_MINUTES = 60;

const TABLE = 'sandbox_payments.portal_sessions';
const COLUMNS = recordColumns<SandboxPortal>({
  id: 'id text',
  customer: 'customer text',
  returnUrl: 'return_url text',
  isChallenged: 'is_challenged boolean',
});

export const insertPortal = async (database: Knex, portal: Omit<SandboxPortal, 'isChallenged'>): Promise<void> => {
  await database(TABLE).insert({
    ...COLUMNS.toRow({ ...portal, isChallenged: false }),
    expires_at: database.raw('sandbox_payments.clock() + make_interval(mins => ?)', [PORTAL_MINUTES]),
  });
};

/** Finds a visit to the portal that has not expired. */
export const findPortal = async (database: Knex, id: string): Promise<SandboxPortal | undefined> => {
  const [portal] = await database(TABLE)
    .select<SandboxPortal[]>(database.raw(COLUMNS.select(TABLE)))
    .where({ id })
    .whereRaw('expires_at > sandbox_payments.clock()');
  return portal;
};

/** Stores the state of the bank's question in a visit. */
export const updatePortalChallenge = async (database: Knex, id: string, isChallenged: boolean): Promise<void> => {
  await database(TABLE).where({ id }).update({ is_challenged: isChallenged });
};

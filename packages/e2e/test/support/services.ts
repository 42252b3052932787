import { readStackFile } from '@svc/testing';
import pg from 'pg';
import { expect, inject } from 'vitest';
import type { Person } from './people.ts';

export const processIdOf = async (name: string): Promise<number> =>
  (await readStackFile(inject('dataDir'))).processes[name]?.pid ?? 0;

/** Kills a process of the stack with SIGKILL and returns its id. The stack restarts it. */
export const killService = async (name: string): Promise<number> => {
  const pid = await processIdOf(name);
  expect(pid, name).toBeGreaterThan(0);
  process.kill(pid, 'SIGKILL');
  return pid;
};

/** A request of an app or key in billing; amounts as the driver returns them. */
export interface ReservationRow {
  readonly request_id: string;
  readonly state: string;
  readonly cost_micros: string | null;
  readonly estimate_micros: string | null;
}

/** Reads the requests of users in billing. A running API-key request is none. */
export const reservationsOf = async (...users: Person[]): Promise<ReservationRow[]> =>
  await readBilling<ReservationRow>(
    `SELECT request_id, state, cost_micros, estimate_micros FROM reservations WHERE svc_user_id = ANY ($1)
     UNION ALL SELECT request_id, state, cost_micros, NULL FROM key_requests WHERE svc_user_id = ANY ($1)
     UNION ALL SELECT request_id, 'uncertain', NULL, held_micros FROM uncertain_key_requests WHERE svc_user_id = ANY ($1)`,
    users,
  );

/** Reads what the leases of a user have cost so far, as gateways have reported. */
export const reportedCostOf = async (user: Person): Promise<number> => {
  const rows = await readBilling<{ known: string }>(
    'SELECT known_micros AS known FROM leases WHERE svc_user_id = ANY ($1)',
    [user],
  );
  return rows.reduce((sum, { known }) => sum + Number(known), 0);
};

const readBilling = async <T extends pg.QueryResultRow>(sql: string, users: readonly Person[]): Promise<T[]> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  const client = new pg.Client({ connectionString: urls['billing'] ?? '' });
  await client.connect();
  const { rows } = await client.query<T>(sql, [users.map(({ userId }) => userId)]);
  await client.end();
  return rows;
};

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

/** A row of billing's reservations; amounts as the driver returns them. */
export interface ReservationRow {
  readonly request_id: string;
  readonly state: string;
  readonly cost_micros: string | null;
  readonly estimate_micros: string;
  /** Cost of an API-key request so far, as its gateway reported it. */
  readonly reported_micros: string | null;
}

/** Reads billing's reservations of users. */
export const reservationsOf = async (...users: Person[]): Promise<ReservationRow[]> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  const client = new pg.Client({ connectionString: urls['billing'] ?? '' });
  await client.connect();
  const { rows } = await client.query<ReservationRow>(
    'SELECT request_id, state, cost_micros, estimate_micros, reported_micros FROM reservations WHERE svc_user_id = ANY ($1)',
    [users.map(({ userId }) => userId)],
  );
  await client.end();
  return rows;
};

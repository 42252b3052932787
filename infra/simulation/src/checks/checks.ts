import { readFileSync } from 'node:fs';
import { listDiscrepancies } from '@svc/billing/src/balances.ts';
import knex, { type Knex } from 'knex';
import type pg from 'pg';
import type { SimulatedServer } from '../database/simulated-server.ts';

/** A guarantee that does not hold. Ends the simulation. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Collects violations that are noticed within a step, by code that must not throw. */
export interface Violations {
  readonly note: (text: string) => void;
  /** Throws the first violation, if there is one. */
  readonly raise: () => void;
}

export const createViolations = (): Violations => {
  const noted: string[] = [];
  return {
    note: (text) => void noted.push(text),
    raise: () => {
      if (noted.length > 0) throw new Violation(noted.join('; '));
    },
  };
};

const LISTED_MAX = 5;

/** Reads the databases beside the services, over separate connections. */
export interface Checks {
  /** Recomputes every running total of billing from its sources. */
  readonly all: () => Promise<void>;
  readonly query: <Row>(name: string, sql: string) => Promise<Row[]>;
  /** Closes the connections to billing's database, which is about to be replaced. */
  readonly release: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Creates the guards inside billing's database. Must be called before billing starts. */
export const installGuards = async (client: pg.Client): Promise<void> => {
  await client.query(readFileSync(new URL('./billing-guards.sql', import.meta.url), 'utf8'));
};

export const createChecks = (server: SimulatedServer): Checks => {
  const clients = new Map<string, pg.Client>();
  let totals: Knex | undefined;
  const open = async (name: string): Promise<pg.Client> => {
    const known = clients.get(name);
    if (known !== undefined) return known;
    const client = await server.connect(name);
    clients.set(name, client);
    return client;
  };
  const release = async (): Promise<void> => {
    await clients.get('billing')?.end();
    clients.delete('billing');
    await totals?.destroy();
    totals = undefined;
  };
  return {
    all: async () => {
      totals ??= knex({ client: 'pg', connection: server.url('billing'), pool: { min: 0, max: 1 } });
      const found = await listDiscrepancies(totals, LISTED_MAX);
      if (found.length > 0) throw new Violation(`totals differ: ${JSON.stringify(found)}`);
    },
    query: async (name, sql) => (await (await open(name)).query(sql)).rows,
    release,
    close: async () => {
      await release();
      for (const client of clients.values()) await client.end();
    },
  };
};

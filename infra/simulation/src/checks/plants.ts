import { readFileSync } from 'node:fs';
import type pg from 'pg';
import type { DatabaseName, SimulatedServer } from '../database/simulated-server.ts';

/** A change of one service's database that breaks a guarantee. */
type Plant = { readonly breaks: string; readonly database: DatabaseName } & (Replacement | { readonly script: string });

/** A change of one function. */
interface Replacement {
  readonly routine: string;
  readonly from: string;
  readonly to: string;
}

/** Faults that can be planted into the simulation's own databases, to prove that it notices them. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  'kept-place': {
    breaks: 'the pending requests of an account are its reserved ones',
    database: 'billing',
    routine: 'write_delegated_use',
    from: 'a.pending - d.ended',
    to: 'a.pending',
  },
  'kept-hold': {
    breaks: 'the holds of a wallet equal those of its leases and uncertain requests',
    database: 'billing',
    routine: 'book_key_use',
    from: 'w.held_micros - p_freed',
    to: 'w.held_micros',
  },
  'freed-twice': {
    breaks: 'the end of a request frees its hold once',
    database: 'billing',
    routine: 'book_key_use',
    from: 'w.held_micros - p_freed',
    to: 'greatest(w.held_micros - 2 * p_freed, 0)',
  },
  'counted-twice': {
    breaks: 'a settlement counts once for the week',
    database: 'billing',
    routine: 'write_delegated_use',
    from: 'a.week_used_micros + d.week',
    to: 'a.week_used_micros + 2 * d.week',
  },
  'open-cap': {
    breaks: 'a reached cap admits nothing',
    database: 'billing',
    routine: 'admit_delegated_requests',
    from: 'v.week_used_micros < p.weekly_limit_micros',
    to: 'true',
  },
  'credited-twice': {
    breaks: 'a paid checkout is credited once',
    database: 'billing',
    script: 'credited-twice.sql',
  },
  'skipped-version': {
    breaks: 'the versions of an aggregate have no gap',
    database: 'billing',
    script: 'skipped-version.sql',
  },
  'two-ids': {
    breaks: 'a webhook keeps its id when it is delivered again',
    database: 'webhook-dispatcher',
    script: 'two-ids.sql',
  },
};

/** Plants a fault. Throws RangeError for an unknown one, or if the function no longer has the text that it changes. */
export const plantFault = async (server: Pick<SimulatedServer, 'connect'>, name: string): Promise<void> => {
  const plant = PLANTS[name];
  if (plant === undefined) throw new RangeError(`no such fault: ${name}; there are ${Object.keys(PLANTS).join(', ')}`);
  const client = await server.connect(plant.database);
  if ('script' in plant) await client.query(readFileSync(new URL(`./plants/${plant.script}`, import.meta.url), 'utf8'));
  else await replace(client, plant);
  await client.end();
};

const replace = async (client: pg.Client, { routine, from, to }: Replacement): Promise<void> => {
  const { rows } = await client.query('SELECT pg_get_functiondef($1::regproc) AS definition', [routine]);
  const definition: string = rows[0]?.definition ?? '';
  if (!definition.includes(from)) throw new RangeError(`${routine} has no ${from}`);
  await client.query(definition.replace(from, to));
};

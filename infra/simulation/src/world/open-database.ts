import { createDatabase } from '@svc/database';
import type { Knex } from 'knex';
import type { DatabaseName } from '../database/simulated-server.ts';
import type { Surroundings } from './surroundings.ts';

/** Longer than any wait in a simulation. */
const STATEMENT_TIMEOUT_MS = 600_000;

/** Opens the pool of the running process, whose connections the scheduler steps. */
export const openDatabase = ({ server, stepper }: Surroundings, name: DatabaseName, poolMax: number): Knex =>
  createDatabase(server.url(name), {
    applicationName: name,
    poolMax,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    openStream: () => stepper.openStream(name),
  });

import { createDatabase } from '@svc/database';
import type { Logger, Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { DatabaseName, SimulatedServer } from '../database/simulated-server.ts';
import type { Stepper } from '../database/stepper.ts';
import type { Random } from '../engine/random.ts';
import type { VirtualTime } from '../engine/time.ts';
import type { Broker } from '../network/broker.ts';
import type { HintBoard } from '../network/broker-client.ts';
import type { Network } from '../network/network.ts';

/** Everything around the processes of the services. */
export interface Surroundings {
  readonly server: SimulatedServer;
  readonly stepper: Stepper;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly broker: Broker;
  readonly hints: HintBoard;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Counts an operation of a service, for the figures. */
  readonly count: (operation: string) => void;
}

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

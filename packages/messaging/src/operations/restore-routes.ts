import { type ConsumingService, publishingServices, restoreOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { beginEpoch, type Epoch } from '../outbox/begin-epoch.ts';

/** Work that a service has done after a restore. */
export interface RestoreReport {
  readonly reconciled: number;
  readonly announced: number;
}

export interface RestoreRoutesDeps {
  readonly service: ConsumingService;
  readonly database: Knex;
  /** Has the consumers read all kept messages again, and returns how many. */
  readonly readAgain: () => Promise<number>;
  /** Catches up with third parties, then announces the present state once for each epoch. Safe to repeat. */
  readonly afterRestore?: (epoch: Epoch, restoredTo: Date) => Promise<RestoreReport>;
}

/** Route of the internal port that follows a restore, for operators. */
export const restoreRoutes = (deps: RestoreRoutesDeps): Binding[] => [
  bind(restoreOperations[deps.service], async ({ body }) => {
    const epoch = await beginIfPublishing(deps, new Date(body.restored_to));
    return { status: 200, body: { ...epoch, read_again: await deps.readAgain() } };
  }),
];

const beginIfPublishing = async ({ service, database, afterRestore }: RestoreRoutesDeps, restoredTo: Date) => {
  if (!publishingServices.some((publisher) => publisher === service)) {
    return { epoch: null, began_at: null, reconciled: 0, announced: 0 };
  }
  const epoch = await beginEpoch(database, restoredTo);
  const report = (await afterRestore?.(epoch, restoredTo)) ?? { reconciled: 0, announced: 0 };
  return { epoch: epoch.epoch, began_at: epoch.beganAt.toISOString(), ...report };
};

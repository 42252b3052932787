import { type PublishingService, restoreOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { beginEpoch, type Epoch } from '../outbox/begin-epoch.ts';

/** Work that a service has done after a restore. */
export interface RestoreReport {
  readonly reconciled: number;
  readonly announced: number;
}

export interface RestoreRoutesDeps {
  readonly service: PublishingService;
  readonly database: Knex;
  /** Catches up with third parties, then announces the present state once for each epoch. Safe to repeat. */
  readonly afterRestore?: (epoch: Epoch, restoredTo: Date) => Promise<RestoreReport>;
}

/** Route of the internal port that follows a restore, for operators. */
export const restoreRoutes = ({ service, database, afterRestore }: RestoreRoutesDeps): Binding[] => [
  bind(restoreOperations[service], async ({ body }) => {
    const restoredTo = new Date(body.restored_to);
    const epoch = await beginEpoch(database, restoredTo);
    const report = (await afterRestore?.(epoch, restoredTo)) ?? { reconciled: 0, announced: 0 };
    return { status: 200, body: { epoch: epoch.epoch, began_at: epoch.beganAt.toISOString(), ...report } };
  }),
];

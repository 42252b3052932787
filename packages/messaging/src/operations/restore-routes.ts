import { type ConsumingService, publishingServices, restoreOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { beginEpoch, type Epoch } from '../outbox/begin-epoch.ts';

/** Work that a service has done after a restore. */
export interface RestoreReport {
  readonly reconciled: number;
  readonly announced: number;
  /** Objects that could not be reconciled or announced. */
  readonly failed: readonly { readonly object: string; readonly reason: string }[];
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

const NOTHING = { reconciled: 0, announced: 0, failed: [] };

const beginIfPublishing = async ({ service, database, afterRestore }: RestoreRoutesDeps, restoredTo: Date) => {
  if (!publishingServices.some((publisher) => publisher === service)) {
    return { epoch: null, began_at: null, ...NOTHING };
  }
  const epoch = await beginEpoch(database, restoredTo);
  const { reconciled, announced, failed } = (await afterRestore?.(epoch, restoredTo)) ?? NOTHING;
  const began_at = epoch.beganAt.toISOString();
  return { epoch: epoch.epoch, began_at, reconciled, announced, failed: [...failed] };
};

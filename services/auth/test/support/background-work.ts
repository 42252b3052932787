import { newId } from '@svc/contracts';
import { withOutbox } from '@svc/messaging';
import { createLogger } from '@svc/service-kit';
import { stepSuspension } from '../../src/apps/run-suspensions.ts';
import { tidyUp } from '../../src/housekeeping.ts';
import type { Transact } from '../../src/transact.ts';
import type { AuthService } from './auth-service.ts';

const relay = { hint: () => undefined };
const transactOf =
  ({ database }: AuthService): Transact =>
  (work) =>
    withOutbox({ database, relay }, work);

const depsOf = (service: AuthService) => ({
  database: service.database,
  transact: transactOf(service),
  clock: service.clock,
  newId,
  logger: createLogger({ service: 'auth', level: 'silent' }),
});

/** Returns a step of another replica's suspension worker, which returns false if there was nothing to do. */
export const stepOf = (service: AuthService) => (): Promise<boolean> => stepSuspension(depsOf(service));

/** One round of tidying up, by the service's clock. */
export const tidyUpOf = (service: AuthService): Promise<void> => tidyUp(depsOf(service));

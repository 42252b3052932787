import { newId } from '@svc/contracts';
import { withOutbox } from '@svc/messaging';
import { type Clock, createLogger, createMetrics } from '@svc/service-kit';
import { stepSuspension } from '../../src/apps/suspensions.ts';
import { createFailingItems, type Work } from '../../src/failing-items.ts';
import { tidyUp } from '../../src/housekeeping.ts';
import type { Transact } from '../../src/transact.ts';
import type { AuthService } from './auth-service.ts';

const relay = { hint: () => undefined };
const transactOf =
  ({ database }: AuthService): Transact =>
  (work) =>
    withOutbox({ database, relay }, work);

const logger = createLogger({ service: 'auth', level: 'silent' });

const depsOf = (service: AuthService, work: Work, clock: Clock = service.clock) => ({
  database: service.database,
  transact: transactOf(service),
  clock,
  newId,
  items: createFailingItems(work, { clock, logger, metrics: createMetrics('auth') }),
});

/** Returns a step of another replica's suspension worker, which returns false if there was nothing to do. */
export const stepOf = (service: AuthService) => (): Promise<boolean> => stepSuspension(depsOf(service, 'suspensions'));

/** One round of tidying up. Default: by the service's clock. */
export const tidyUpOf = (service: AuthService, clock?: Clock): Promise<void> =>
  tidyUp(depsOf(service, 'housekeeping', clock));

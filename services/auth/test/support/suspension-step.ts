import { createLogger } from '@svc/service-kit';
import { stepSuspension } from '../../src/apps/run-suspensions.ts';
import { createTransact } from '../../src/transact.ts';
import type { AuthService } from './auth-service.ts';

/** One batch of the suspension worker of a replica of its own; false where there was nothing to do. */
export const stepOf = (service: AuthService): (() => Promise<boolean>) => {
  const deps = {
    transact: createTransact(service.database, () => undefined),
    clock: service.clock,
    logger: createLogger({ service: 'auth', level: 'silent' }),
  };
  return () => stepSuspension(deps);
};

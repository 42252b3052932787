import type { newId } from '@svc/contracts';
import { cutOffApp } from '../connections/index.ts';
import type { Transaction } from '../transact.ts';
import { insertSuspension } from './suspension-queries.ts';

/** Cuts off every grant of a locked app, and schedules the end of its connections. */
export const endAccessOfApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { clientId, now }: { clientId: string; now: Date },
): Promise<void> => {
  await cutOffApp(deps, trx, { clientId, now });
  await insertSuspension(trx, clientId, now);
};

import { routes } from '@svc/contracts';
import { type Binding, bind, sendJsonStream } from '@svc/service-kit';
import { createBoundedQueue } from '../bounded-queue.ts';
import { type ExportAccountDeps, exportAccount } from './export-account.ts';

/** Each export uses a connection to every database. */
const RUNNING_MAX = 2;
const WAITING_MAX = 16;

/** Binds the route that exports a person's data. */
export const personalDataRoutes = (deps: ExportAccountDeps): Binding[] => {
  const queue = createBoundedQueue({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    refusal: 'Too many exports are running. Try again in a moment.',
  });
  return [
    bind(routes.exportAccount, (context) =>
      queue(() =>
        sendJsonStream(
          context,
          (write) => exportAccount(deps, { userId: context.caller.userId, signal: context.signal }, write),
          { headers: { 'content-disposition': 'attachment; filename="svc-export.json"', 'cache-control': 'no-store' } },
        ),
      ),
    ),
  ];
};

import { type ConsumingService, secretOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { countStoredValues, renewStoredValues, type SecretUse } from './stored-values.ts';

/** Time for one call, below the time-out of operators' calls. */
const CALL_MS_MAX = 20_000;

/** Routes of the internal port over a service's secrets, for operators. */
export const secretRoutes = (deps: {
  readonly service: ConsumingService;
  readonly database: Knex;
  readonly uses: readonly SecretUse[];
}): Binding[] => [
  bind(secretOperations.list[deps.service], async () => {
    const stored = await countStoredValues(deps.database, deps.uses);
    return {
      status: 200,
      body: {
        data: stored.map(({ setting, keyId, isConfigured, isCurrent, values }) => ({
          setting,
          key_id: keyId,
          configured: isConfigured,
          writes: isCurrent,
          values,
        })),
      },
    };
  }),
  bind(secretOperations.reencrypt[deps.service], async () => {
    const endMs = performance.now() + CALL_MS_MAX;
    const isTimeUp = (): boolean => performance.now() > endMs;
    const { renewed, isDone } = await renewStoredValues(deps.database, deps.uses, { isTimeUp });
    return { status: 200, body: { reencrypted: renewed, done: isDone } };
  }),
];

import { setTimeout as sleep } from 'node:timers/promises';
import { inferenceGatewayEvents } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import type { ApiKeyCaller, Logger } from '@svc/service-kit';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { updateLimitReached } from './queries.ts';

export interface LimitReporterDeps extends Pick<ApiKeyDeps, 'database' | 'relay' | 'billing'> {
  readonly logger: Logger;
}

/** A request that was refused because of its key's monthly limit. */
interface LimitRefusal {
  readonly caller: Pick<ApiKeyCaller, 'userId' | 'keyId' | 'monthlyLimitMicros'>;
  readonly requestId: string;
  readonly resetsAt: string;
}

interface LimitReporter {
  /**
   * Publishes the first refusal of a key in its month, with the cost of the requests before it. The request does not wait
   * for it.
   */
  readonly refused: (refusal: LimitRefusal) => void;
  /** Publishes at once what still waits. Resolves once nothing is being published. */
  readonly stop: () => Promise<void>;
}

/** Keys whose refusal this process knows to be published. */
const KNOWN_MAX = 10_000;
/** Keys of which a refusal is being published. Later ones are published with a later refusal. */
const RUNNING_MAX = 100;
/** Billing knows the cost of a request this long after its end. */
const SETTLED_AFTER_MS = 2_000;

/** Creates the reporter of this process. If one fails, the next refusal of the key is published instead. */
export const createLimitReporter = (deps: LimitReporterDeps): LimitReporter => {
  const known = new Map<string, string>();
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const settlements = (): Promise<void> =>
    sleep(SETTLED_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {});
  const publish = async (refusal: LimitRefusal): Promise<void> => {
    const { keyId } = refusal.caller;
    try {
      await settlements();
      await publishFirst(deps, refusal);
      known.delete(keyId);
      known.set(keyId, refusal.resetsAt);
      const [oldest] = known.keys();
      if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
    } catch (error) {
      deps.logger.warn({ key_id: keyId, err: error }, 'could not publish that a key has reached its monthly limit');
    } finally {
      running.delete(keyId);
    }
  };
  return {
    refused(refusal) {
      const { keyId } = refusal.caller;
      if (known.get(keyId) === refusal.resetsAt || running.has(keyId) || running.size >= RUNNING_MAX) return;
      running.set(keyId, publish(refusal));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
};

const publishFirst = async (deps: LimitReporterDeps, { caller, requestId, resetsAt }: LimitRefusal): Promise<void> => {
  const { userId, keyId: id } = caller;
  const { spent_this_month_micros } = await deps.billing.keySpending([id], { userId, requestId });
  await withOutbox(deps, async (trx) => {
    const key = await updateLimitReached(trx, { id, monthEndsAt: new Date(resetsAt) });
    if (key === undefined) return;
    await appendToOutbox(trx, {
      subject: inferenceGatewayEvents.keyLimitReached.subject,
      aggregate: `key_limit:${id}:${resetsAt}`,
      version: 1,
      data: {
        svc_user_id: key.userId,
        key_id: id,
        name: key.name,
        spent_micros: spent_this_month_micros[0] ?? 0,
        limit_micros: caller.monthlyLimitMicros ?? key.monthlyLimitMicros ?? 0,
        resets_at: resetsAt,
      },
    });
  });
};

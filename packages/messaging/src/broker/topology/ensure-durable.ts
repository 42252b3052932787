import type { Durable } from '@svc/contracts';
import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JetStreamManager, nanos } from 'nats';
import { isNotFound } from '../is-not-found.ts';

/** Longer than a handler takes. A crashed replica's messages go to another one after this time. */
const ACK_WAIT_MS = 15_000;
const ACK_PENDING_MAX = 1_000;
/** Above the consumer's own limit: it parks a message before the server drops it. */
const DELIVERIES_MAX = 100;

/** A durable consumer to make. */
export interface DurableOptions extends Pick<Durable, 'stream' | 'subjects'> {
  readonly name: string;
  /** Time after which an unanswered message is delivered again. */
  readonly ackWaitMs?: number | undefined;
}

/** Creates a missing durable consumer or updates an existing one. */
export const ensureDurable = async (manager: JetStreamManager, durable: DurableOptions): Promise<void> => {
  const { name, stream, subjects, ackWaitMs = ACK_WAIT_MS } = durable;
  const config = {
    filter_subjects: [...subjects],
    max_deliver: DELIVERIES_MAX,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: ACK_PENDING_MAX,
  };
  const current = await findConfig(manager, stream, name);
  if (current === undefined) {
    await manager.consumers.add(stream, {
      ...config,
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    return;
  }
  const changed = Object.entries(config).some(
    ([key, value]) => JSON.stringify(Reflect.get(current, key)) !== JSON.stringify(value),
  );
  if (changed) await manager.consumers.update(stream, name, config);
};

const findConfig = async (
  manager: JetStreamManager,
  stream: string,
  name: string,
): Promise<ConsumerConfig | undefined> => {
  try {
    return (await manager.consumers.info(stream, name)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

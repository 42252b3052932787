import { AckPolicy, type ConsumerConfig, DeliverPolicy, nanos } from 'nats';
import { findStream, isNotFound } from '../connection/topology.ts';
import { deliveriesGranted, type HandlerDeps } from './handler.ts';

const ACK_PENDING_MAX = 1_000;
/** Deliveries that the broker allows beyond ours, so that it never gives up on a message before we park it. */
const SPARE_DELIVERIES = 20;

/** Creates the durable consumer, and its stream, if it is missing. Otherwise updates its configuration. */
export const ensureConsumer = async (deps: HandlerDeps, stream: string, subjects: readonly string[]): Promise<void> => {
  const { manager } = deps.messaging;
  if ((await findStream(manager, stream)) === undefined) await deps.messaging.ensureTopology();
  const config = {
    filter_subjects: [...subjects],
    max_deliver: deliveriesGranted(deps) + SPARE_DELIVERIES,
    ack_wait: nanos(deps.ackWaitMs),
    max_ack_pending: ACK_PENDING_MAX,
  };
  const current = await findConsumerConfig(deps, stream);
  if (current === undefined) {
    await manager.consumers.add(stream, {
      ...config,
      durable_name: deps.consumer,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
    });
    return;
  }
  const changed = Object.entries(config).some(([key, value]) => !isSame(Reflect.get(current, key), value));
  if (changed) await manager.consumers.update(stream, deps.consumer, config);
};

const findConsumerConfig = async (deps: HandlerDeps, stream: string): Promise<ConsumerConfig | undefined> => {
  try {
    return (await deps.messaging.manager.consumers.info(stream, deps.consumer)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const isSame = (current: unknown, wanted: unknown): boolean => {
  return JSON.stringify(current) === JSON.stringify(wanted);
};

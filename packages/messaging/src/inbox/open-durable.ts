import { isNotFound } from '@svc/broker';
import { type Consumer, millis } from 'nats';
import { BrokerNotMigrated } from '../connection/broker-not-migrated.ts';
import { deliveriesGranted, type HandlerDeps } from './handler.ts';

export interface OpenDurable {
  readonly consumer: Consumer;
  /** Time without an acknowledgement after which the broker delivers a message again. */
  readonly ackWaitMs: number;
}

/**
 * Finds the durable consumer, which the broker's migration creates. Throws BrokerNotMigrated if it is missing, or if it lacks
 * a subject or grants fewer deliveries than this release needs.
 */
export const openDurable = async (
  deps: HandlerDeps,
  stream: string,
  subjects: readonly string[],
): Promise<OpenDurable> => {
  const consumer = await findConsumer(deps, stream);
  const { config } = await consumer.info(true);
  const served = new Set(config.filter_subjects ?? [config.filter_subject]);
  const missing = subjects.filter((subject) => !served.has(subject));
  if (missing.length > 0) throw new BrokerNotMigrated(`${deps.consumer} does not serve ${missing.join(', ')}`);
  if ((config.max_deliver ?? -1) <= deliveriesGranted(deps)) {
    throw new BrokerNotMigrated(`${deps.consumer} gives messages up too early`);
  }
  return { consumer, ackWaitMs: millis(config.ack_wait ?? 0) };
};

const findConsumer = async ({ messaging, consumer }: HandlerDeps, stream: string): Promise<Consumer> => {
  try {
    return await messaging.jetstream.consumers.get(stream, consumer);
  } catch (error) {
    if (isNotFound(error)) throw new BrokerNotMigrated(`there is no consumer ${consumer} on ${stream}`);
    throw error;
  }
};

import { setTimeout as sleep } from 'node:timers/promises';
import { brokerInboxPrefix } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { ConsumerInfo } from 'nats';
import type { Messaging } from '../connection/connect-messaging.ts';
import { askBroker } from '../connection/connect-messaging.ts';
import type { Consumer } from './start-consumer.ts';

/** The broker drops requests without a word while too many wait. */
const TRIES_MAX = 6;
const TRY_AGAIN_MS = 1_000;
const LOOKS_MAX = 100;
const LOOK_AGAIN_MS = 20;
/** JetStream goes on with the oldest message that the stream still keeps. */
const FIRST_SEQUENCE = 1;

/**
 * Has consumers read again all messages that their streams keep, and returns how many. After a restore this brings back
 * the effects of those acknowledged since the restored moment. The inbox, which keeps ids longer than streams keep
 * messages, drops what the database knows. Throws AppError if the broker does not do it.
 */
export const readAgain = async (messaging: Messaging, consumers: readonly Consumer[]): Promise<number> => {
  let count = 0;
  for (const consumer of consumers) {
    // So that nothing is delivered before it is certain that the consumer begins anew.
    await consumer.pause();
    try {
      for (const stream of consumer.streams) count += await reset(messaging, stream, consumer.name);
    } finally {
      consumer.resume();
    }
  }
  return count;
};

/** Resets a durable, and returns its number of messages. A broker that is busy or away gets more tries. */
const reset = async (messaging: Messaging, stream: string, name: string): Promise<number> => {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const before = await findInfo(messaging, stream, name);
    const after = before === null ? null : await requestReset(messaging, before);
    if (after !== null) return after.num_pending + after.num_ack_pending;
    messaging.logger.warn({ consumer: name, stream }, 'a consumer could not be reset; retrying');
    await sleep(TRY_AGAIN_MS);
  }
  throw new AppError('service_unavailable', undefined, { cause: new Error(`${name} on ${stream} could not be reset`) });
};

/**
 * Sends the request of JetStream 2.14 by which a durable begins like a new one; the client has no call for it. Version
 * 2.14.0 sends its reply to the account of the streams, where no service can hear it, so the durable's state tells.
 * Returns that state, or null if the broker has not done it in time. Safe to repeat.
 */
const requestReset = async (messaging: Messaging, before: ConsumerInfo): Promise<ConsumerInfo | null> => {
  const { connection, jetstream } = messaging;
  const { stream_name: stream, name } = before;
  const subject = `${jetstream.getOptions().apiPrefix}.CONSUMER.RESET.${stream}.${name}`;
  const reply = `${brokerInboxPrefix(messaging.name)}.reset`;
  connection.publish(subject, JSON.stringify({ seq: FIRST_SEQUENCE }), { reply });
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const after = await findInfo(messaging, stream, name);
    if (after !== null && hasBegunAnew(before, after)) return after;
    await sleep(LOOK_AGAIN_MS);
  }
  return null;
};

const findInfo = (messaging: Messaging, stream: string, name: string): Promise<ConsumerInfo | null> =>
  askBroker(messaging, () => messaging.manager.consumers.info(stream, name));

/** Returns true if deliveries are counted from the start again. Other replicas may take messages meanwhile. */
const hasBegunAnew = (before: ConsumerInfo, after: ConsumerInfo): boolean =>
  before.delivered.consumer_seq === 0 || after.delivered.consumer_seq < before.delivered.consumer_seq;

import { durables, REVOCATION_TTL_SECONDS, REVOCATIONS_STREAM } from '@svc/contracts';
import type { DatabaseSession } from '@svc/database';
import { isNotFound } from '../broker/index.ts';
import { BrokerNotMigrated } from '../connection/broker-not-migrated.ts';
import type { Messaging } from '../connection/connect-messaging.ts';
import { findStream } from '../connection/find-stream.ts';
import { deleteStreamRecord, findStreamRecord, type StreamRecord, unpublishAfter } from './queries.ts';

const SENT_KEPT_SECONDS = 7 * 24 * 3600;

/**
 * Compares a stream with its last recorded acknowledgement and returns its creation time. If the stream was recreated or cut
 * short, marks the lost facts that the outbox still has as unpublished. Throws BrokerNotMigrated if the stream or one of
 * its durable consumers is missing.
 */
export const verifyStream = async (session: DatabaseSession, messaging: Messaging, name: string): Promise<string> => {
  const info = await messaging.untilDisconnect(findStream(messaging.manager, name));
  if (info === undefined) throw new BrokerNotMigrated(`there is no stream ${name}`);
  const consumersMin = durables.filter(({ stream }) => stream === name).length;
  if (info.state.consumer_count < consumersMin) throw new BrokerNotMigrated(`${name} lacks a durable consumer`);
  const created = String(info.created);
  const record = await findStreamRecord(session, name);
  if (record === undefined) return created;
  const found = { created, lastSeq: info.state.last_seq };
  const intactThrough = await messaging.untilDisconnect(findIntactEnd(messaging, record, found));
  if (intactThrough === undefined) return created;
  const ageSecondsMax = name === REVOCATIONS_STREAM ? REVOCATION_TTL_SECONDS : SENT_KEPT_SECONDS;
  const count = await unpublishAfter(session, name, { afterStreamSeq: intactThrough, ageSecondsMax });
  await deleteStreamRecord(session, name);
  messaging.meters.outboxRepublished(name, count);
  messaging.logger.warn({ stream: name, count }, 'the stream lost acknowledged messages; publishing them again');
  return created;
};

/** Returns the last sequence number before the loss, or undefined if the stream has all acknowledged messages. */
const findIntactEnd = async (
  messaging: Messaging,
  record: StreamRecord,
  found: { readonly created: string; readonly lastSeq: number },
): Promise<number | undefined> => {
  if (found.created !== record.created) return 0;
  if (found.lastSeq < record.last_stream_seq) return found.lastSeq;
  const id = await findMessageId(messaging, record.stream, record.last_stream_seq);
  // A handled message is gone. Another message with this number: the stream was reset to an unknown point and has grown
  // since.
  return id === undefined || id === record.last_event_id ? undefined : 0;
};

/** Returns the event id of a stored message, which age or a newer entry may have removed. */
const findMessageId = async (messaging: Messaging, stream: string, seq: number): Promise<string | undefined> => {
  try {
    const message = await messaging.manager.streams.getMessage(stream, { seq });
    // A fact that was published again on request has its earlier sequence number behind its id.
    return message?.header.get('Nats-Msg-Id').split('.')[0];
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

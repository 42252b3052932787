import { isNotFound } from '@svc/broker';
import { REVOCATION_TTL_SECONDS, REVOCATIONS_STREAM } from '@svc/contracts';
import type { DatabaseSession } from '@svc/database';
import { BrokerNotMigrated } from '../connection/broker-not-migrated.ts';
import type { Messaging } from '../connection/connect-messaging.ts';
import { findStream } from '../connection/find-stream.ts';
import { deleteStreamRecord, findStreamRecord, type StreamRecord, unpublishAfter } from './queries.ts';

const SENT_KEPT_SECONDS = 7 * 24 * 3600;

/**
 * Compares a stream with what it is known to have acknowledged. When it was made anew, or ends before that, whatever the
 * outbox still keeps of the lost part becomes unpublished again. Answers when it was created. Throws BrokerNotMigrated if
 * there is no such stream.
 */
export const verifyStream = async (session: DatabaseSession, messaging: Messaging, name: string): Promise<string> => {
  const info = await messaging.untilDisconnect(findStream(messaging.manager, name));
  if (info === undefined) throw new BrokerNotMigrated(`there is no stream ${name}`);
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
  messaging.logger.warn({ stream: name, count }, 'the stream lost acknowledged messages; sending again what is kept');
  return created;
};

/** Up to which sequence number the stream has what it acknowledged; undefined when all of it is there. */
const findIntactEnd = async (
  messaging: Messaging,
  record: StreamRecord,
  found: { readonly created: string; readonly lastSeq: number },
): Promise<number | undefined> => {
  if (found.created !== record.created) return 0;
  if (found.lastSeq < record.last_stream_seq) return found.lastSeq;
  const id = await findMessageId(messaging, record.stream, record.last_stream_seq);
  // Another message in its place: the stream was set back and has grown again since, from an unknown point.
  return id === undefined || id === record.last_event_id ? undefined : 0;
};

/** The event id of a stored message; undefined once age or a newer entry has removed it. */
const findMessageId = async (messaging: Messaging, stream: string, seq: number): Promise<string | undefined> => {
  try {
    const message = await messaging.manager.streams.getMessage(stream, { seq });
    return message?.header.get('Nats-Msg-Id');
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

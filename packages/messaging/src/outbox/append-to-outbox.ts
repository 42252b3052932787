import { randomBytes } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { REVOCATION_SUBJECT_PREFIX } from '@svc/contracts';
import { retryTransaction } from '@svc/database';
import { isSampled, traceparentOf } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type EventInput, type EventSubject, findEvent, streamOf } from '../connection/event-types.ts';

/** Returns a UUID of version 7 (RFC 9562 §5.7): 48 bits of milliseconds, then random bits. */
export const uuidV7 = (nowMs: number = Date.now()): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** Bound of a JetStream message and of the relay's memory. */
const PAYLOAD_BYTES_MAX = 1024 ** 2;
const COLUMNS = ['id', 'aggregate', 'version', 'stream', 'subject', 'payload', 'traceparent'] as const;
const REVOCATION_KEY =
  /^(grant|session|key|management_key|app|account|keys|key_version|verified|lost|member)\.[A-Za-z0-9_-]{1,100}$/;

/** A fact to publish. `version` grows by one with each fact of the aggregate, whose row the caller holds locked. */
export type OutboxEvent = {
  [S in EventSubject]: {
    readonly subject: S;
    readonly aggregate: string;
    readonly version: number;
    readonly data: EventInput<S>;
  };
}[EventSubject];

/**
 * A revocation to publish: `grant.<id>`, `session.<id>`, `key.<id>`, `management_key.<id>`, the mark `verified.<id>`, or a range `lost.<range>`, `member.<id>`, `app.<id>`, `account.<id>`, `keys.<id>`,
 * `key_version.<id>`.
 */
export interface OutboxRevocation {
  readonly revocation: {
    readonly key: string;
    readonly value?: { readonly revoked_through: string } | undefined;
  };
}

/**
 * Inserts facts and revocations in the given order, in the caller's transaction. The relay publishes them after the commit. Throws
 * if one breaks its contract.
 */
export const appendToOutbox = async (
  trx: Knex.Transaction,
  ...entries: readonly (OutboxEvent | OutboxRevocation)[]
): Promise<void> => {
  if (entries.length === 0) return;
  await trx('outbox').insert(entries.map((entry) => ('revocation' in entry ? revocationRow(entry) : eventRow(entry))));
};

/**
 * Returns the insert of one fact, for a writer that makes it part of a larger statement. `outboxValues` are the parameters of that
 * statement from `firstParameter` on.
 */
export const outboxInsert = (firstParameter: number): string => {
  const values = COLUMNS.map((_, place) => `$${firstParameter + place}`);
  return `INSERT INTO outbox (${COLUMNS.join(', ')}) VALUES (${values.join(', ')})`;
};

/** Returns the parameters of `outboxInsert`. Throws if the fact breaks its contract. */
export const outboxValues = (event: OutboxEvent): readonly (string | number | null)[] => {
  const row = eventRow(event);
  return COLUMNS.map((column) => row[column]);
};

const eventRow = (event: OutboxEvent) => {
  const definition = findEvent(event.subject);
  if (definition === undefined) throw new RangeError(`${event.subject} is not in the contract`);
  const data = definition.schema.parse(event.data);
  return row({ subject: event.subject, aggregate: event.aggregate, version: event.version, payload: data });
};

const revocationRow = ({ revocation }: OutboxRevocation) => {
  const { key, value } = revocation;
  if (!REVOCATION_KEY.test(key)) throw new RangeError('not a revocation key');
  const isRange = /^(app|account|keys|key_version|lost|member)\./.test(key);
  if (isRange !== (value !== undefined))
    throw new RangeError('revoked_through belongs to app., account., keys., key_version., lost. and member. entries');
  const subject = `${REVOCATION_SUBJECT_PREFIX}${key}`;
  return row({ subject, aggregate: `revocation:${key}`, version: 1, payload: value ?? {} });
};

const row = (entry: { subject: string; aggregate: string; version: number; payload: object }) => {
  const payload = JSON.stringify(entry.payload);
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) throw new RangeError(`${entry.subject} is too large to publish`);
  const span = trace.getActiveSpan();
  const traceparent = (isSampled(span) ? traceparentOf(span) : undefined) ?? null;
  return { ...entry, id: uuidV7(), stream: streamOf(entry.subject), payload, traceparent };
};

/**
 * Runs `work` in one transaction, repeats it from the start after a deadlock or serialization failure, and wakes the relay
 * of the outbox after the commit. `work` must have no effect outside the transaction.
 */
export const withOutbox = async <T>(
  deps: { readonly database: Knex; readonly relay: { readonly hint: () => void } },
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> => {
  const result = await retryTransaction(deps.database, work);
  deps.relay.hint();
  return result;
};

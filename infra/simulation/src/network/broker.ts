import { allEvents, streams } from '@svc/contracts';
import { runOutside } from '../engine/simulated-process.ts';
import type { TimedEvent, VirtualTime } from '../engine/time.ts';

/** A message of a stream. */
export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly id: string;
  readonly storedAtMs: number;
}

/** A delivery to a consumer, until it is settled or its acknowledgement is overdue. */
interface Outstanding {
  readonly message: StoredMessage;
  deliveries: number;
  dueAtMs: number;
  wake: TimedEvent | undefined;
}

/** A request of a client for messages. */
export interface Pull {
  readonly id: number;
  /** Takes a message; returns false if the pull is full or over. */
  readonly take: (message: StoredMessage, deliveries: number) => boolean;
}

/** A durable consumer: a place in the stream that its clients share. */
export interface Durable {
  readonly stream: string;
  readonly name: string;
  /** Number of times that it began anew. Settlements of an earlier life have no effect. */
  readonly life: () => number;
  readonly pull: (pull: Pull) => void;
  readonly leave: (pull: Pull) => void;
  readonly acknowledge: (seq: number) => void;
  /** Delivers a message again after a delay. */
  readonly again: (seq: number, delayMs: number) => void;
  readonly extend: (seq: number) => void;
  /** Delivers all messages again, and returns how many there are. */
  readonly rewind: () => number;
  /** Forgets everything, because the stream has lost its messages. */
  readonly forget: () => void;
  /** Messages that are not acknowledged yet; none if no process of the simulation serves this consumer. */
  readonly unsettled: () => readonly Unsettled[];
}

export interface Unsettled {
  readonly message: StoredMessage;
  /** 0 if it was not delivered yet. */
  readonly deliveries: number;
}

export interface Stream {
  readonly name: string;
  created: string;
  readonly messages: StoredMessage[];
  readonly publish: (
    subject: string,
    data: Uint8Array,
    id: string,
  ) => { readonly seq: number; readonly duplicate: boolean };
}

/** A model of JetStream with the product's streams and durable consumers. */
export interface Broker {
  readonly streams: ReadonlyMap<string, Stream>;
  readonly streamOf: (subject: string) => Stream;
  readonly durable: (stream: string, name: string) => Durable | undefined;
  readonly unsettled: () => readonly string[];
  /** Loses all data, as a new volume would. Returns false if that would lose facts that no outbox keeps any more. */
  readonly lose: () => boolean;
  /** Returns true if data was lost so recently that outboxes may not have published it again. */
  readonly isRecovering: () => boolean;
}

/** Longer than a relay needs to compare its stream with its outbox, which it does every 15 s. */
const RECOVERY_MS = 60_000;

/** Outboxes keep published facts for seven days. */
const REPEATABLE_MS = 6 * 24 * 3_600_000;
export const ACK_WAIT_MS = 10_000;
const DEDUPLICATION_MS = 600_000;

export const createBroker = (time: VirtualTime): Broker => {
  const durables = new Map<string, Durable & { readonly offer: () => void }>();
  const made = new Map<string, Stream>();
  const forgetIds: (() => void)[] = [];
  let lostAtMs = Number.NEGATIVE_INFINITY;
  for (const { name } of Object.values(streams)) {
    const messages: StoredMessage[] = [];
    const seenAt = new Map<string, { readonly seq: number; readonly atMs: number }>();
    forgetIds.push(() => seenAt.clear());
    made.set(name, {
      name,
      created: new Date(time.nowMs()).toISOString(),
      messages,
      publish: (subject, data, id) => {
        const seen = seenAt.get(id);
        if (seen !== undefined && time.nowMs() - seen.atMs < DEDUPLICATION_MS)
          return { seq: seen.seq, duplicate: true };
        const seq = messages.length + 1;
        messages.push({ seq, subject, data, id, storedAtMs: time.nowMs() });
        seenAt.set(id, { seq, atMs: time.nowMs() });
        for (const durable of durables.values()) if (durable.stream === name) durable.offer();
        return { seq, duplicate: false };
      },
    });
  }
  const streamOf = (subject: string): Stream => {
    const { service } = allEvents.find((event) => event.subject === subject) ?? {};
    const found = Object.entries(streams).find(([name]) => name === service);
    const stream = found === undefined ? undefined : made.get(found[1].name);
    if (stream === undefined) throw new Error(`no stream takes ${subject}`);
    return stream;
  };
  for (const { consumers, subject } of allEvents) {
    for (const name of consumers) {
      const stream = streamOf(subject);
      const key = `${stream.name} ${name}`;
      if (durables.has(key)) continue;
      const subjects = new Set(
        allEvents.filter((event) => event.consumers.some((each) => each === name)).map((event) => event.subject),
      );
      durables.set(key, createDurable({ time, stream, name, subjects }));
    }
  }
  return {
    streams: made,
    streamOf,
    durable: (stream, name) => durables.get(`${stream} ${name}`),
    unsettled: () => [...durables.values()].flatMap((each) => each.unsettled().map(describe(each.name))),
    lose: () => {
      const unsettled = [...durables.values()].flatMap((durable) => durable.unsettled());
      if (unsettled.some(({ message }) => time.nowMs() - message.storedAtMs > REPEATABLE_MS)) return false;
      for (const stream of made.values()) {
        stream.created = new Date(time.nowMs()).toISOString();
        stream.messages.length = 0;
      }
      for (const forget of forgetIds) forget();
      for (const durable of durables.values()) durable.forget();
      lostAtMs = time.nowMs();
      return true;
    },
    isRecovering: () => time.nowMs() - lostAtMs < RECOVERY_MS,
  };
};

interface DurableOptions {
  readonly time: VirtualTime;
  readonly stream: Stream;
  readonly name: string;
  readonly subjects: ReadonlySet<string>;
}

const createDurable = ({ time, stream, name, subjects }: DurableOptions): Durable & { readonly offer: () => void } => {
  const outstanding = new Map<number, Outstanding>();
  const pulls: Pull[] = [];
  let next = 0;
  let life = 0;
  let isServed = false;
  const deliver = (message: StoredMessage, entry: Outstanding): boolean => {
    for (;;) {
      const [pull] = pulls;
      if (pull === undefined) return false;
      if (!pull.take(message, entry.deliveries + 1)) {
        pulls.shift();
        continue;
      }
      // Clients of one consumer take turns.
      pulls.push(...pulls.splice(0, 1));
      entry.deliveries += 1;
      entry.dueAtMs = time.nowMs() + ACK_WAIT_MS;
      wakeWhenDue(entry);
      return true;
    }
  };
  const offer = (): void => {
    for (const entry of outstanding.values()) {
      if (entry.dueAtMs <= time.nowMs() && !deliver(entry.message, entry)) return;
    }
    for (; next < stream.messages.length; next += 1) {
      const message = stream.messages[next];
      if (message === undefined || !subjects.has(message.subject)) continue;
      const entry: Outstanding = { message, deliveries: 0, dueAtMs: 0, wake: undefined };
      if (!deliver(message, entry)) return;
      outstanding.set(message.seq, entry);
    }
  };
  const wakeWhenDue = (entry: Outstanding): void => {
    if (entry.wake !== undefined) entry.wake.isCancelled = true;
    entry.wake = runOutside(() => time.schedule(entry.dueAtMs - time.nowMs(), `redelivery of ${name}`, offer));
  };
  const postpone = (seq: number, delayMs: number): void => {
    const entry = outstanding.get(seq);
    if (entry === undefined) return;
    entry.dueAtMs = time.nowMs() + delayMs;
    wakeWhenDue(entry);
  };
  const forget = (): void => {
    for (const { wake } of outstanding.values()) if (wake !== undefined) wake.isCancelled = true;
    outstanding.clear();
    next = 0;
    life += 1;
  };
  const notDelivered = (): readonly Unsettled[] =>
    stream.messages
      .slice(next)
      .filter(({ subject }) => subjects.has(subject))
      .map((message) => ({ message, deliveries: 0 }));
  return {
    stream: stream.name,
    name,
    offer,
    life: () => life,
    pull: (pull) => {
      isServed = true;
      pulls.push(pull);
      offer();
    },
    leave: (pull) => {
      const place = pulls.indexOf(pull);
      if (place !== -1) pulls.splice(place, 1);
    },
    acknowledge: (seq) => {
      const { wake } = outstanding.get(seq) ?? {};
      if (wake !== undefined) wake.isCancelled = true;
      outstanding.delete(seq);
    },
    again: postpone,
    extend: (seq) => postpone(seq, ACK_WAIT_MS),
    forget,
    rewind: () => {
      forget();
      offer();
      return stream.messages.filter(({ subject }) => subjects.has(subject)).length;
    },
    unsettled: () => (isServed ? [...outstanding.values(), ...notDelivered()] : []),
  };
};

const describe =
  (consumer: string) =>
  ({ message: { seq, data }, deliveries }: Unsettled): string => {
    const { subject, aggregate, version, epoch } = JSON.parse(new TextDecoder().decode(data));
    return `${consumer} ${seq} ${subject} ${aggregate} version ${version} of ${epoch} (${deliveries} deliveries)`;
  };

import { allEvents, durables } from '@svc/contracts';
import type { Messaging } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { ConsumerMessages, JetStreamClient, JetStreamManager, JsMsg, NatsConnection, StoredMsg } from 'nats';
import type { Random } from '../engine/random.ts';
import { bindToProcess, currentProcess, runOutside, type SimulatedProcess } from '../engine/simulated-process.ts';
import type { VirtualTime } from '../engine/time.ts';
import { ACK_WAIT_MS, type Broker, type Durable, type Pull, type StoredMessage } from './broker.ts';
import type { Network } from './network.ts';

const NANOSECONDS_PER_MS = 1_000_000;
const DELIVERIES_MAX = 10_000;
const LOSS = 0.01;

export interface BrokerClientOptions {
  readonly name: string;
  readonly broker: Broker;
  readonly hints: HintBoard;
  readonly logger: Logger;
  readonly network: Network;
  readonly time: VirtualTime;
  readonly random: Random;
}

/** Core NATS: what is published reaches the present subscribers only. */
export interface HintBoard {
  readonly subscribe: (subject: string, listener: (text: string) => void) => () => void;
  readonly publish: (subject: string, text: string) => void;
}

export const createHintBoard = (time: VirtualTime): HintBoard => {
  interface Listener {
    readonly owner: SimulatedProcess | undefined;
    readonly listen: (text: string) => void;
  }
  const listeners = new Map<string, Set<Listener>>();
  return {
    subscribe: (subject, listener) => {
      const added: Listener = { owner: currentProcess(), listen: bindToProcess(listener) };
      const present = listeners.get(subject) ?? new Set();
      listeners.set(subject, present.add(added));
      return () => present.delete(added);
    },
    publish: (subject, text) => {
      for (const { owner, listen } of listeners.get(subject) ?? []) {
        if (owner?.isAlive !== false) runOutside(() => time.schedule(1, `hint ${subject}`, () => listen(text)));
      }
    },
  };
};

/** Connects a process to the model of JetStream, with the part of the client that `@svc/messaging` uses. */
export const connectToBroker = (options: BrokerClientOptions): Messaging => {
  const { name, hints, network } = options;
  const connection = {
    subscribe: (
      subject: string,
      { callback }: { callback: (error: null, message: { string: () => string }) => void },
    ) => {
      const leave = hints.subscribe(subject, (text) => callback(null, { string: () => text }));
      return { isClosed: () => false, unsubscribe: leave };
    },
    publish: (subject: string, text: string) => hints.publish(subject, text),
  };
  return {
    name,
    // The three clients have exactly the members that `@svc/messaging` calls; the end-to-end tests use the real ones.
    connection: connection as unknown as NatsConnection,
    jetstream: createJetStream(options) as unknown as JetStreamClient,
    manager: createManager(options) as unknown as JetStreamManager,
    logger: options.logger,
    meters: NO_METERS,
    isConnected: () => !network.isCut(name, 'broker'),
    untilDisconnect: (work) => work,
    onReconnect: () => () => undefined,
    close: async () => undefined,
  };
};

const ignore = (): void => undefined;
const NO_METERS: Messaging['meters'] = {
  outboxBacklog: ignore,
  outboxPublished: ignore,
  outboxRepublished: ignore,
  epochsRecent: ignore,
  relayLeading: ignore,
  streamFill: ignore,
  consumed: ignore,
  factsDropped: ignore,
  waiting: ignore,
  paused: ignore,
  deadLetters: ignore,
  revocationsConnected: ignore,
  revocationsUnchecked: ignore,
  revocationsKept: ignore,
};

const createJetStream = (options: BrokerClientOptions) => {
  const { name, broker, network } = options;
  return {
    publish: (subject: string, data: Uint8Array, { msgID, timeout }: { msgID: string; timeout: number }) =>
      network.call({ from: name, to: 'broker', timeoutMs: timeout, mayRepeat: true }, async () =>
        broker.streamOf(subject).publish(subject, data, msgID),
      ),
    consumers: {
      get: async (stream: string, durableName: string) => {
        const durable = broker.durable(stream, durableName);
        if (durable === undefined) throw new Error(`there is no consumer ${durableName} on ${stream}`);
        return {
          info: async () => ({
            config: {
              filter_subjects: ALL_SUBJECTS,
              max_deliver: DELIVERIES_MAX,
              ack_wait: ACK_WAIT_MS * NANOSECONDS_PER_MS,
            },
          }),
          fetch: async (wanted: { max_messages: number; expires: number }) => openPull(options, durable, wanted),
        };
      },
    },
  };
};

/** The model's consumers filter by the event table, so they serve every subject that is asked for. */
const ALL_SUBJECTS = allEvents.map(({ subject }) => subject);

const createManager = ({ broker }: BrokerClientOptions) => ({
  streams: {
    info: async (name: string) => {
      const stream = broker.streams.get(name);
      const state = { last_seq: stream?.messages.length ?? 0, consumer_count: durables.length, bytes: 0 };
      return { created: stream?.created ?? 'never', state, config: { max_bytes: 1 } };
    },
    getMessage: async (name: string, { seq }: { seq: number }): Promise<Pick<StoredMsg, 'header'> | undefined> => {
      const message = broker.streams.get(name)?.messages[seq - 1];
      // Only the message id is read from the headers.
      return message && { header: { get: () => message.id } as unknown as StoredMsg['header'] };
    },
  },
  consumers: { info: async () => ({ num_pending: 0, num_ack_pending: 0 }) },
});

let pullsMade = 0;

const openPull = (
  options: BrokerClientOptions,
  durable: Durable,
  { max_messages, expires }: { readonly max_messages: number; readonly expires: number },
): ConsumerMessages => {
  const { time, random, network, name } = options;
  const owner = currentProcess();
  const arrived: JsMsg[] = [];
  let expected = max_messages;
  let isInHand = false;
  let isClosed = false;
  let wake = ignore;
  const close = async (): Promise<void> => {
    isClosed = true;
    runOutside(() => durable.leave(pull));
    wake();
  };
  const arrive = bindToProcess((message: JsMsg) => {
    if (isClosed) return;
    arrived.push(message);
    wake();
  });
  pullsMade += 1;
  const pull: Pull = {
    id: pullsMade,
    take: (message, deliveries) => {
      // The server forgets the pulls of a connection that is gone.
      if (isClosed || expected === 0 || owner?.isAlive === false) return false;
      expected -= 1;
      if (!network.isCut(name, 'broker') && !random.chance(LOSS)) {
        const life = durable.life();
        runOutside(() =>
          time.schedule(random.around(1), `delivery to ${name}`, () =>
            arrive(toMessage(options, durable, { message, deliveries, life })),
          ),
        );
      }
      if (expected === 0) runOutside(() => time.schedule(5, `end of a pull of ${name}`, finish));
      return true;
    },
  };
  const finish = bindToProcess(() => void close());
  time.schedule(expires, `expiry of a pull of ${name}`, finish);
  if (!network.isCut(name, 'broker'))
    runOutside(() => time.schedule(random.around(1), `pull of ${name}`, () => isClosed || durable.pull(pull)));
  const iterate = async function* () {
    for (;;) {
      isInHand = false;
      const message = arrived.shift();
      if (message !== undefined) {
        isInHand = true;
        yield message;
        continue;
      }
      if (isClosed) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  // `@svc/messaging` iterates, closes and counts, and does nothing else.
  return {
    close,
    getPending: () => arrived.length + (isInHand ? 1 : 0),
    [Symbol.asyncIterator]: iterate,
  } as unknown as ConsumerMessages;
};

const toMessage = (
  { time, random, network, name }: BrokerClientOptions,
  durable: Durable,
  {
    message,
    deliveries,
    life,
  }: { readonly message: StoredMessage; readonly deliveries: number; readonly life: number },
): JsMsg => {
  const send = (settle: () => void): void => {
    if (network.isCut(name, 'broker') || random.chance(LOSS)) return;
    runOutside(() =>
      time.schedule(random.around(1), `settlement by ${name}`, () => {
        if (durable.life() === life) settle();
      }),
    );
  };
  const text = new TextDecoder().decode(message.data);
  const settled = {
    ack: () => send(() => durable.acknowledge(message.seq)),
    term: () => send(() => durable.acknowledge(message.seq)),
    nak: (delayMs = 0) => send(() => durable.again(message.seq, delayMs)),
    working: () => send(() => durable.extend(message.seq)),
  };
  return {
    ...settled,
    subject: message.subject,
    seq: message.seq,
    data: message.data,
    headers: undefined,
    string: () => text,
    info: { deliveryCount: deliveries, stream: durable.stream },
    // The consumer reads these members of a message, and no others.
  } as unknown as JsMsg;
};

import { setTimeout as sleep } from 'node:timers/promises';
import { type Consumer, type ConsumerMessages, type JsMsg, millis } from 'nats';
import { isNotFound } from '../broker/index.ts';
import { BrokerNotMigrated } from '../connection/connect-messaging.ts';
import { handleMessages } from './handle-messages.ts';
import { deliveriesGranted, type HandleResult, type HandlerDeps, type Requirement } from './handler.ts';

/** Life of a pull. New messages arrive at once. */
const PULL_MS = 5_000;
const PULL_GRACE_MS = 2_000;
/** A pull that ends sooner without a message has found no consumer. */
const PULL_SUSPECT_MS = 100;
const FETCH_SINGLE = 20;
/** Batches in one pull: each pull begins with a message or two alone, in a transaction that costs as much as a full one. */
const BATCHES_PER_PULL = 4;
const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;
/** Progress reports to the broker within one acknowledgement wait. */
const WORKING_PER_ACK_WAIT = 3;

export interface PullLoopOptions {
  readonly deps: HandlerDeps;
  readonly stream: string;
  readonly subjects: readonly string[];
}

export interface PullLoop {
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
}

type DrainOptions = PullLoopOptions & Pick<OpenDurable, 'ackWaitMs'>;

interface LoopState {
  halt: AbortController;
  pulling: ConsumerMessages | undefined;
  /** Opened for many pulls, because a look-up before every pull would cost a round trip. */
  durable: OpenDurable | undefined;
}

export const createPullLoop = (options: PullLoopOptions): PullLoop => {
  const state: LoopState = { halt: new AbortController(), pulling: undefined, durable: undefined };
  let running = runLoop(options, state);
  let stopped = false;
  // The broker may have lost the consumer with its data.
  const forget = options.deps.messaging.onReconnect(() => {
    state.durable = undefined;
  });
  const pause = async () => {
    state.halt.abort();
    void state.pulling?.close();
    await running;
  };
  return {
    pause,
    resume() {
      if (stopped || !state.halt.signal.aborted) return;
      state.halt = new AbortController();
      running = running.then(() => runLoop(options, state));
    },
    async stop() {
      stopped = true;
      forget();
      await pause();
    },
  };
};

const runLoop = async (options: PullLoopOptions, state: LoopState): Promise<void> => {
  const { messaging, consumer } = options.deps;
  const { signal } = state.halt;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await pullOnce(options, state, signal);
      failures = 0;
    } catch (error) {
      state.durable = undefined;
      failures += 1;
      const fields = { consumer, stream: options.stream, attempt: failures, err: error };
      if (messaging.isConnected()) messaging.logger.warn(fields, 'messages cannot be fetched; retrying');
      await pauseFor(Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX), signal);
    }
  }
};

const pullOnce = async (options: PullLoopOptions, state: LoopState, signal: AbortSignal): Promise<void> => {
  const { messaging } = options.deps;
  if (!messaging.isConnected()) return await pauseFor(RETRY_MS, signal);
  state.durable ??= await openDurable(options.deps, options.stream, options.subjects);
  const { consumer, ackWaitMs } = state.durable;
  const startedAt = performance.now();
  if (signal.aborted) return;
  const messages = await consumer.fetch({ max_messages: fetchMax(options.deps), expires: PULL_MS });
  state.pulling = messages;
  // After a lost connection the pull would wait for its end forever.
  const guard = setTimeout(() => void messages.close(), PULL_MS + PULL_GRACE_MS);
  try {
    const { taken, down } = await drain({ ...options, ackWaitMs }, messages, signal);
    if (down !== undefined) await waitUntilBack(options, down, signal);
    else if (taken === 0 && performance.now() - startedAt < PULL_SUSPECT_MS) throw new Error('the pull ended too soon');
  } finally {
    clearTimeout(guard);
    state.pulling = undefined;
    void messages.close();
  }
};

const fetchMax = ({ batch }: HandlerDeps): number => (batch === 1 ? FETCH_SINGLE : batch * BATCHES_PER_PULL);

/**
 * Handles messages as they arrive: a full batch, or as many as have arrived meanwhile. Pending messages may go to another
 * replica, so a batch does not wait for them.
 */
const drain = async (options: DrainOptions, messages: ConsumerMessages, signal: AbortSignal) => {
  let taken = 0;
  let down: Requirement | undefined;
  let waiting: JsMsg[] = [];
  for await (const message of messages) {
    taken += 1;
    waiting.push(message);
    if (signal.aborted || down !== undefined) continue;
    // The present message still counts as pending.
    if (waiting.length < options.deps.batch && messages.getPending() > 1) continue;
    ({ down } = await handleWithReports(options, waiting));
    waiting = [];
    if (down !== undefined) void messages.close();
  }
  if (waiting.length > 0 && !signal.aborted && down === undefined) {
    ({ down } = await handleWithReports(options, waiting));
    waiting = [];
  }
  // Another replica may have them at once.
  for (const message of waiting) message.nak();
  return { taken, down };
};

/** Reports progress while messages are handled, or the broker would deliver them again. */
const handleWithReports = async (
  { deps, ackWaitMs }: DrainOptions,
  messages: readonly JsMsg[],
): Promise<HandleResult> => {
  const timer = setInterval(() => {
    for (const message of messages) message.working();
  }, ackWaitMs / WORKING_PER_ACK_WAIT);
  try {
    return await handleMessages(deps, messages);
  } finally {
    clearInterval(timer);
  }
};

/** Fetches nothing while a requirement is down: each delivery counts, and an outage must not use them up. */
const waitUntilBack = async (options: PullLoopOptions, down: Requirement, signal: AbortSignal): Promise<void> => {
  const { database, probe, messaging, consumer } = options.deps;
  messaging.logger.warn({ consumer, component: down }, 'a requirement is down; fetching no messages until it is back');
  messaging.meters.paused(consumer, down, true);
  try {
    for (let delayMs = RETRY_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      await pauseFor(delayMs, signal);
      try {
        await (down === 'database' ? database.raw('SELECT 1') : probe?.());
        return;
      } catch {
        // Still down.
      }
    }
  } finally {
    messaging.meters.paused(consumer, down, false);
  }
};

const pauseFor = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
};

interface OpenDurable {
  readonly consumer: Consumer;
  /** Time without an acknowledgement after which the broker delivers a message again. */
  readonly ackWaitMs: number;
}

/**
 * Finds the durable consumer, which the broker's migration creates. Throws BrokerNotMigrated if it is missing, or if it lacks
 * a subject or grants fewer deliveries than this release needs.
 */
const openDurable = async (deps: HandlerDeps, stream: string, subjects: readonly string[]): Promise<OpenDurable> => {
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

import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from 'nats';
import type { HandleResult, HandlerDeps } from './handle-messages.ts';
import { type OpenDurable, openDurable } from './open-durable.ts';

/** A pull asks for messages for this long; new ones come at once. */
const PULL_MS = 5_000;
const PULL_GRACE_MS = 2_000;
/** A pull that ends at once has found no consumer behind it. */
const PULL_SUSPECT_MS = 100;
const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;
/** The broker is told that work goes on this many times in its acknowledgement wait. */
const WORKING_PER_ACK_WAIT = 3;

/** What one loop takes and how. */
export interface PullLoopOptions {
  readonly deps: HandlerDeps;
  readonly stream: string;
  readonly subjects: readonly string[];
  /** Messages asked for at once. */
  readonly fetch: number;
  /** Messages handed over at once. */
  readonly chunk: number;
  readonly handle: (messages: readonly JsMsg[]) => Promise<HandleResult>;
}

type DrainOptions = PullLoopOptions & Pick<OpenDurable, 'ackWaitMs'>;

/** Takes messages of one durable consumer until stopped. */
export interface PullLoop {
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

interface LoopState {
  /** Aborts when nothing more is to be taken. */
  halt: AbortController;
  pulling: ConsumerMessages | undefined;
  /** Undefined until it is known to be there. */
  durable: OpenDurable | undefined;
}

/** Starts the loop at once. */
export const createPullLoop = (options: PullLoopOptions): PullLoop => {
  const state: LoopState = { halt: new AbortController(), pulling: undefined, durable: undefined };
  let running = runLoop(options, state);
  let stopped = false;
  // The consumer may be gone with the broker's data.
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
      if (messaging.isConnected()) messaging.logger.warn(fields, 'messages cannot be taken; trying again');
      await pauseFor(Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX), signal);
    }
  }
};

const pullOnce = async (options: PullLoopOptions, state: LoopState, signal: AbortSignal): Promise<void> => {
  const { messaging } = options.deps;
  if (!messaging.isConnected()) return await pauseFor(RETRY_MS, signal);
  // Asked for once: each time would cost a question to the broker before every pull.
  state.durable ??= await openDurable(options.deps, options.stream, options.subjects);
  const { consumer, ackWaitMs } = state.durable;
  const startedAt = performance.now();
  if (signal.aborted) return;
  const messages = await consumer.fetch({ max_messages: options.fetch, expires: PULL_MS });
  state.pulling = messages;
  // A lost connection must not leave the pull waiting for its end.
  const guard = setTimeout(() => void messages.close(), PULL_MS + PULL_GRACE_MS);
  try {
    const { taken, databaseDown } = await drain({ ...options, ackWaitMs }, messages, signal);
    if (databaseDown) await waitForDatabase(options, signal);
    else if (taken === 0 && performance.now() - startedAt < PULL_SUSPECT_MS) throw new Error('the pull ended at once');
  } finally {
    clearTimeout(guard);
    state.pulling = undefined;
    void messages.close();
  }
};

/**
 * Hands messages over as they come: a full chunk, or whatever has come meanwhile. What the server says is pending may go to
 * another replica, so nothing waits for it.
 */
const drain = async (options: DrainOptions, messages: ConsumerMessages, signal: AbortSignal) => {
  let taken = 0;
  let databaseDown = false;
  let waiting: JsMsg[] = [];
  for await (const message of messages) {
    taken += 1;
    waiting.push(message);
    if (signal.aborted || databaseDown) continue;
    // The present one still counts among those that have come.
    if (waiting.length < options.chunk && messages.getPending() > 1) continue;
    ({ databaseDown } = await keepWorking(waiting, options));
    waiting = [];
    if (databaseDown) void messages.close();
  }
  if (waiting.length > 0 && !signal.aborted && !databaseDown) {
    ({ databaseDown } = await keepWorking(waiting, options));
    waiting = [];
  }
  // Taken but not begun: another replica may have them at once.
  for (const message of waiting) message.nak();
  return { taken, databaseDown };
};

/** While messages are handled the server is told so, lest it deliver them again. */
const keepWorking = async (messages: readonly JsMsg[], options: DrainOptions): Promise<HandleResult> => {
  const timer = setInterval(() => {
    for (const message of messages) message.working();
  }, options.ackWaitMs / WORKING_PER_ACK_WAIT);
  try {
    return await options.handle(messages);
  } finally {
    clearInterval(timer);
  }
};

/** Nothing is taken while our database is away: deliveries are counted, and are not to be used up by an outage. */
const waitForDatabase = async (options: PullLoopOptions, signal: AbortSignal): Promise<void> => {
  const { database, messaging, consumer } = options.deps;
  messaging.logger.warn({ consumer }, 'the database cannot be reached; no messages are taken until it can');
  for (let delayMs = RETRY_MS; !signal.aborted; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
    await pauseFor(delayMs, signal);
    try {
      await database.raw('SELECT 1');
      return;
    } catch {
      // Still away.
    }
  }
};

const pauseFor = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
};

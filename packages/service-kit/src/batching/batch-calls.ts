import { type Span, trace } from '@opentelemetry/api';
import { AppError } from '../app-error.ts';
import { withinSpan } from '../traces.ts';
import { createKeyedQueues, type Queue } from './keyed-queues.ts';

/** An open call and the time at which it was made. */
interface OpenCall {
  readonly askedAtMs: number;
}

interface DeadlineOptions<C extends OpenCall> {
  /** Time from a call to its deadline. Infinity watches nothing. */
  readonly deadlineMs: number;
  /** Returns the calls that have no result yet. */
  readonly open: () => readonly C[];
  readonly onOverdue: (calls: readonly C[]) => void;
}

/** Share of the deadline between two looks, which bounds its excess. One timer serves all calls. */
const LOOKS_PER_DEADLINE = 10;

/**
 * Returns the function to call after each call is made. Looks for overdue calls as long as any are open, so that a call
 * costs no timer and leaves nothing behind once it has a result.
 */
const watchDeadlines = <C extends OpenCall>({ deadlineMs, open, onOverdue }: DeadlineOptions<C>) => {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    timer = undefined;
    const madeBeforeMs = performance.now() - deadlineMs;
    const calls = open();
    const overdue = calls.filter(({ askedAtMs }) => askedAtMs <= madeBeforeMs);
    if (overdue.length > 0) onOverdue(overdue);
    if (calls.length > overdue.length) start();
  };
  const start = (): void => {
    if (timer !== undefined || !Number.isFinite(deadlineMs)) return;
    timer = setTimeout(look, deadlineMs / LOOKS_PER_DEADLINE);
    timer.unref();
  };
  return start;
};

export interface BatchingOptions<I, O> {
  /** Runs a batch and returns one result per call, in order. Must be idempotent for each call. */
  readonly run: (calls: readonly I[]) => Promise<readonly O[]>;
  /** Maximum calls in one batch. */
  readonly callsMax: number;
  /** Maximum concurrent batches; more than one requires `keyOf`. */
  readonly batchesMax?: number;
  /** Minimum time between the starts of two batches, unless a full batch waits. */
  readonly paceMs?: number;
  /** Maximum waiting calls in total. */
  readonly waitingMax: number;
  /** Maximum waiting calls per key. */
  readonly waitingPerKeyMax?: number;
  /** Maximum time from the call to its result, exceeded by at most 10 %. If omitted, only `run` bounds it. */
  readonly deadlineMs?: number;
  /** Names the row that a call works on. If omitted, all calls share one queue. */
  readonly keyOf?: (call: I) => string;
  /** Decides whether the calls of a failed batch are retried, each alone. */
  readonly isRetryable?: (error: unknown, callsCount: number) => boolean;
}

interface Call<I, O> {
  readonly input: I;
  readonly span: Span | undefined;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
  /** Failed runs of this call. */
  failures: number;
  /** Time of the call by the monotonic clock. */
  readonly askedAtMs: number;
  /** True once the deadline has passed: the call is rejected and never run again. */
  isOverdue: boolean;
}

/** Maximum concurrent single runs, in addition to the batches: a call that waits for a locked row delays no batch. */
const ALONE_MAX = 4;
/** Maximum runs of one call: one in a batch, the others alone. */
const RUNS_MAX = 4;

/**
 * Runs concurrent calls as one batch, so that they share a round trip and a commit. A lone call starts at once. Each
 * key has a FIFO queue, is in at most one running batch, and takes turns with the others. A key with many waiting calls
 * gets a batch to itself, so that other keys do not wait for its row. A call settles after its batch has ended, or at
 * its deadline, even if the batch still runs. Throws `service_unavailable` if too many calls wait, and at the deadline;
 * `wasNeverSent` recognizes the errors of calls that had no effect.
 */
export const batchCalls = <I, O>(options: BatchingOptions<I, O>): ((input: I) => Promise<O>) => {
  const { keyOf, batchesMax = 1, paceMs = 0, waitingPerKeyMax = options.waitingMax } = options;
  const queues = createKeyedQueues<Call<I, O>>({ isAlone: ({ failures }) => failures > 0 });
  let batches = 0;
  let alone = 0;
  let startedAtMs = Number.NEGATIVE_INFINITY;
  /** The start that is scheduled: the timer of the pace, or `soon`, for the next turn of the event loop. */
  let scheduled: NodeJS.Timeout | 'soon' | undefined;
  const running = new Set<readonly Call<I, O>[]>();
  const startDeadline = watchDeadlines({
    deadlineMs: options.deadlineMs ?? Number.POSITIVE_INFINITY,
    open: () => [...[...running].flat(), ...queues.waiting()].filter(({ isOverdue }) => !isOverdue),
    onOverdue: (calls) => {
      const inBatches = new Set([...running].flat());
      for (const call of calls) failOverdue(call, inBatches.has(call) || call.failures > 0);
      queues.discard(({ isOverdue }) => isOverdue);
    },
  });

  const run = async (taken: ReadonlyMap<Queue<Call<I, O>>, readonly Call<I, O>[]>): Promise<void> => {
    const calls = [...taken.values()].flat();
    running.add(calls);
    const failed = new Set(await withinSpan(calls[0]?.span, () => runCalls(options, calls)));
    running.delete(calls);
    for (const [queue, members] of taken) {
      queues.giveBack(
        queue,
        members.filter((call) => failed.has(call) && !call.isOverdue),
      );
    }
  };

  const wake = (): void => {
    scheduled = undefined;
    start();
  };
  const startSoon = (): void => {
    if (scheduled === 'soon') return;
    clearTimeout(scheduled);
    scheduled = 'soon';
    setImmediate(wake);
  };
  const start = (): void => {
    while (alone < ALONE_MAX) {
      const taken = queues.takeAlone();
      if (taken === undefined) break;
      alone += 1;
      void run(taken).then(() => {
        alone -= 1;
        start();
      });
    }
    while (batches < batchesMax && queues.hasTurns()) {
      const nowMs = performance.now();
      const waitMs = startedAtMs + paceMs - nowMs;
      if (waitMs > 0 && queues.size() < options.callsMax) {
        scheduled ??= setTimeout(wake, Math.ceil(waitMs));
        return;
      }
      startedAtMs = nowMs;
      batches += 1;
      void run(queues.takeBatch(options.callsMax)).then(() => {
        batches -= 1;
        start();
      });
    }
  };

  return (input) =>
    new Promise((resolve, reject) => {
      const queue = queues.of(keyOf?.(input) ?? '');
      if (queues.size() >= options.waitingMax || queue.items.length >= waitingPerKeyMax) {
        reject(new NotSentError('too many calls wait'));
        return;
      }
      const askedAtMs = performance.now();
      queues.add(queue, {
        input,
        span: trace.getActiveSpan(),
        resolve,
        reject,
        failures: 0,
        askedAtMs,
        isOverdue: false,
      });
      startDeadline();
      // A timer of the pace goes on, unless the batch is full.
      if (batches < batchesMax && (scheduled === undefined || queues.size() >= options.callsMax)) startSoon();
    });
};

class NotSentError extends AppError {
  constructor(reason: string) {
    super('service_unavailable', undefined, { cause: new Error(reason) });
  }
}

/** Returns true for the error of a call that was refused before it ran, also as the cause of another error. */
export const wasNeverSent = (error: unknown): boolean =>
  error instanceof NotSentError || (error instanceof Error && wasNeverSent(error.cause));

/** Rejects a call. Its batch may still run; the result then goes unused. */
const failOverdue = <I, O>(call: Call<I, O>, wasSent: boolean): void => {
  call.isOverdue = true;
  const reason = 'the call has reached its deadline';
  call.reject(
    wasSent ? new AppError('service_unavailable', undefined, { cause: new Error(reason) }) : new NotSentError(reason),
  );
};

/** Settles the calls of a batch and returns those to retry. */
const runCalls = async <I, O>(
  { run, isRetryable }: BatchingOptions<I, O>,
  calls: readonly Call<I, O>[],
): Promise<readonly Call<I, O>[]> => {
  try {
    const outputs = await run(calls.map(({ input }) => input));
    if (outputs.length !== calls.length)
      throw new Error('a batch returned a different number of results than it has calls');
    // The lengths are equal, so each call has an output.
    for (const [place, { resolve }] of calls.entries()) resolve(outputs[place] as O);
    return [];
  } catch (error) {
    const isAgain = isRetryable?.(error, calls.length) === true;
    const again: Call<I, O>[] = [];
    for (const call of calls) {
      call.failures += 1;
      if (isAgain && call.failures < RUNS_MAX) again.push(call);
      else call.reject(error);
    }
    return again;
  }
};

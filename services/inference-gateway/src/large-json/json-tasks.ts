import { availableParallelism } from 'node:os';
import type { Logger, Metrics } from '@svc/service-kit';
import { Piscina, queueOptionsSymbol, type TaskQueue } from 'piscina';
import { type FailureReason, UpstreamFailure } from '../upstream-failure.ts';
import { type JsonText, joinPieces } from './collect-text.ts';

/** Task on one JSON text. Options and result are cloned between threads, so keep them small; a `body` is transferred. */
export type JsonTask = (bytes: Buffer, options: never) => object;

export type JsonTaskTable = Readonly<Record<string, JsonTask>>;

/** Message to a worker. */
export interface SentTask {
  readonly name: string;
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  readonly keepsText: boolean;
  readonly options: unknown;
}

/** Message from a worker; contains the text if the task keeps it. */
export type TaskOutcome = { readonly result: object; readonly text?: Uint8Array } | { readonly failure: FailureReason };

/**
 * Runs tasks with small texts on the event loop, and those with larger texts in worker threads. Each takes ownership of its
 * text. A table with more tasks can be given where one with fewer is wanted.
 */
export interface JsonTasks<T extends JsonTaskTable> {
  /** Tasks that return their result. */
  readonly run: {
    readonly [N in keyof T]: (text: JsonText, options: Parameters<T[N]>[1]) => Promise<ReturnType<T[N]>>;
  };
  /** Tasks that return the text with their result. */
  readonly runAndKeep: {
    readonly [N in keyof T]: (text: JsonText, options: Parameters<T[N]>[1]) => Promise<KeptText<ReturnType<T[N]>>>;
  };
  readonly close: () => Promise<void>;
}

interface KeptText<Result> {
  readonly bytes: Buffer;
  readonly result: Result;
}

export interface JsonTasksOptions<T extends JsonTaskTable> {
  readonly tasks: T;
  /** URL of the worker's module. */
  readonly workerFile: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Within these limits a task takes less than about a millisecond, and less than the round trip to a worker. */
const INLINE_BYTES_MAX = 128 * 1024;
const INLINE_VALUES_MAX = 2_500;
/** A second worker shortens the queue behind a slow text. More would compete with the event loop for cores. */
const WORKERS_MAX = 2;
/** Enough to parse and validate a text of 32 MiB with 500,000 values. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 16 };
/** The event loop has priority if cores are scarce. */
const WORKER_NICE = 10;
const WORKER_IDLE_MS = 60_000;
/** Far more texts than fit in memory. */
const WAITING_MAX = 1_000;

/** Returns true if a text is small enough for the event loop. */
export const isReadInline = ({ length, values }: Pick<JsonText, 'length' | 'values'>): boolean =>
  length <= INLINE_BYTES_MAX && values <= INLINE_VALUES_MAX;

/**
 * Opens the worker pool. The first large text starts a worker and waits some hundred milliseconds for its modules, so a
 * gateway without large texts has no second heap.
 */
export const openJsonTasks = <T extends JsonTaskTable>(options: JsonTasksOptions<T>): JsonTasks<T> => {
  const { logger } = options;
  const pool = new Piscina({
    filename: options.workerFile,
    name: 'run',
    minThreads: 0,
    maxThreads: Math.max(1, Math.min(WORKERS_MAX, availableParallelism() - 1)),
    idleTimeout: WORKER_IDLE_MS,
    concurrentTasksPerWorker: 1,
    maxQueue: WAITING_MAX,
    taskQueue: createShortestFirstQueue(),
    niceIncrement: WORKER_NICE,
    resourceLimits: WORKER_HEAP,
  });
  pool.on('error', (error: unknown) => logger.error({ err: error }, 'a JSON worker failed'));
  options.metrics.gauge({
    name: 'json_tasks_waiting',
    help: 'Large JSON texts in the queue for a worker.',
    read: () => pool.queueSize,
  });
  const runInline = (name: string, bytes: Buffer, taskOptions: unknown): object => {
    const task = options.tasks[name];
    if (task === undefined) throw new TypeError(`there is no task ${name}`);
    // The type of the table checks the options against the task.
    return task(bytes, taskOptions as never);
  };
  const runInWorker = async (sent: Omit<SentTask, 'pieces'>, text: JsonText): Promise<WorkerResult> => {
    const pieces = text.pieces.map(ownBytes);
    const response: TaskOutcome = await pool.run(withSize({ ...sent, pieces }, { bytes: text.length }), {
      transferList: pieces.map(({ buffer }) => buffer),
    });
    if ('failure' in response) throw new UpstreamFailure(response.failure);
    return response;
  };
  const runAndKeep = async (name: string, text: JsonText, taskOptions: unknown): Promise<KeptText<object>> => {
    if (isReadInline(text)) {
      const bytes = joinPieces(text);
      return { bytes, result: runInline(name, bytes, taskOptions) };
    }
    const sent = { name, length: text.length, keepsText: true, options: taskOptions };
    const { text: bytes, result } = await runInWorker(sent, text);
    if (bytes === undefined) throw new Error('the worker did not return the text');
    return { bytes: asBuffer(bytes), result };
  };
  const run = async (name: string, text: JsonText, taskOptions: unknown): Promise<object> => {
    if (isReadInline(text)) return runInline(name, joinPieces(text), taskOptions);
    const sent = { name, length: text.length, keepsText: false, options: taskOptions };
    return withBuffer((await runInWorker(sent, text)).result);
  };
  const names = Object.keys(options.tasks);
  const byName = <R>(act: (name: string, text: JsonText, taskOptions: unknown) => R) =>
    Object.fromEntries(
      names.map((name) => [name, (text: JsonText, taskOptions: unknown) => act(name, text, taskOptions)]),
    );
  return {
    // Event loop and workers use the same table, so each result has the type of its task.
    run: byName(run) as JsonTasks<T>['run'],
    runAndKeep: byName(runAndKeep) as JsonTasks<T>['runAndKeep'],
    close: () => pool.close({ force: true }),
  };
};

type WorkerResult = Exclude<TaskOutcome, { readonly failure: FailureReason }>;

/** Returns a piece that is alone in its memory, so that it can be transferred without other data. */
const ownBytes = (piece: Buffer): Uint8Array<ArrayBuffer> => {
  const { buffer } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) return new Uint8Array(buffer);
  return new Uint8Array(piece);
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Restores the Buffer of a result, which cloning turns into a Uint8Array. */
const withBuffer = (result: object): object =>
  'body' in result && result.body instanceof Uint8Array ? { ...result, body: asBuffer(result.body) } : result;

type Task = Parameters<TaskQueue['push']>[0];

/** Sort key of a task. */
interface TaskSize {
  readonly bytes: number;
}

/** Attaches the sort key to a task. */
const withSize = <T extends object>(task: T, size: TaskSize): T => ({
  ...task,
  [queueOptionsSymbol]: size,
});

/** Creates a queue that returns the shortest text first, so that a small text does not wait behind huge ones. */
const createShortestFirstQueue = (): TaskQueue => {
  const tasks: Task[] = [];
  return {
    get size() {
      return tasks.length;
    },
    push: (task) => {
      const bytes = bytesOf(task);
      const at = tasks.findIndex((other) => bytesOf(other) > bytes);
      tasks.splice(at === -1 ? tasks.length : at, 0, task);
    },
    shift: () => tasks.shift() ?? null,
    remove: (task) => {
      const at = tasks.indexOf(task);
      if (at !== -1) tasks.splice(at, 1);
    },
  };
};

const bytesOf = (task: Task): number => {
  const options = task[queueOptionsSymbol];
  return options !== null && 'bytes' in options && typeof options.bytes === 'number' ? options.bytes : 0;
};

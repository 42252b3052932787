import { availableParallelism } from 'node:os';
import type { Logger, Metrics } from '@svc/service-kit';
import { Piscina } from 'piscina';
import { type FailureReason, UpstreamFailure } from '../upstream-failure/index.ts';
import { type JsonText, joinPieces } from './json-text.ts';
import { createShortestFirstQueue, withSize } from './shortest-first-queue.ts';

/** Work on one JSON text. Options and result are cloned between threads, so they are small; a `body` is transferred. */
export type JsonTask = (bytes: Buffer, options: never) => object;

/** Tasks by their names. */
export type JsonTaskTable = Readonly<Record<string, JsonTask>>;

/** A task as it is sent to a worker. */
export interface SentTask {
  readonly name: string;
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
  readonly keepsText: boolean;
  readonly options: unknown;
}

/** The answer of a worker, with the text if it is kept. */
export type TaskAnswer = { readonly result: object; readonly text?: Uint8Array } | { readonly failure: FailureReason };

/** Runs tasks: small texts on the event loop, where they are not felt, larger ones in worker threads. */
export interface JsonTasks<T extends JsonTaskTable> {
  /** Takes the text over, and resolves with the result. */
  readonly run: <N extends keyof T & string>(
    name: N,
    text: JsonText,
    options: Parameters<T[N]>[1],
  ) => Promise<ReturnType<T[N]>>;
  /** Takes the text over, and resolves with the result and the whole text. */
  readonly runAndKeep: <N extends keyof T & string>(
    name: N,
    text: JsonText,
    options: Parameters<T[N]>[1],
  ) => Promise<{ readonly bytes: Buffer; readonly result: ReturnType<T[N]> }>;
  readonly close: () => Promise<void>;
}

export interface JsonTasksOptions<T extends JsonTaskTable> {
  readonly tasks: T;
  /** The module that runs them in a worker. */
  readonly workerFile: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Up to these bounds a text takes less than about a millisecond, and less than the way to a worker and back. */
const INLINE_BYTES_MAX = 128 * 1024;
const INLINE_VALUES_MAX = 2_500;
/** A second worker shortens the wait behind a slow text. More would take cores from the event loop. */
const WORKERS_MAX = 2;
/** Of a text of 32 MiB and 500,000 values, parsed and validated, with room to spare. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 16 };
/** Workers give way to the event loop where cores are short. */
const WORKER_NICE = 10;
const WORKER_IDLE_MS = 60_000;
/** Far more texts than fit into memory. */
const WAITING_MAX = 1_000;

/** Returns true for a text that is read on the event loop. */
export const isReadInline = ({ length, values }: Pick<JsonText, 'length' | 'values'>): boolean =>
  length <= INLINE_BYTES_MAX && values <= INLINE_VALUES_MAX;

/**
 * Opens the pool. A worker starts with the first large text, which then waits some hundred milliseconds for its modules:
 * a gateway without large texts keeps no second heap.
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
    help: 'Large JSON texts that wait for a worker.',
    read: () => pool.queueSize,
  });
  const runInline = (name: string, bytes: Buffer, taskOptions: unknown): object => {
    const task = options.tasks[name];
    if (task === undefined) throw new TypeError(`there is no task ${name}`);
    // The type of the table says what this very task takes.
    return task(bytes, taskOptions as never);
  };
  const runInWorker = async (sent: Omit<SentTask, 'pieces'>, text: JsonText): Promise<WorkerResult> => {
    const pieces = text.pieces.map(ownBytes);
    const answer: TaskAnswer = await pool.run(withSize({ ...sent, pieces }, { bytes: text.length }), {
      transferList: pieces.map(({ buffer }) => buffer),
    });
    if ('failure' in answer) throw new UpstreamFailure(answer.failure);
    return answer;
  };
  const runAndKeep: JsonTasks<T>['runAndKeep'] = async (name, text, taskOptions) => {
    type Result = ReturnType<T[typeof name]>;
    if (isReadInline(text)) {
      const bytes = joinPieces(text);
      return { bytes, result: runInline(name, bytes, taskOptions) as Result };
    }
    const sent = { name, length: text.length, keepsText: true, options: taskOptions };
    const { text: bytes, result } = await runInWorker(sent, text);
    if (bytes === undefined) throw new Error('the worker did not return the text');
    return { bytes: asBuffer(bytes), result: result as Result };
  };
  const run: JsonTasks<T>['run'] = async (name, text, taskOptions) => {
    type Result = ReturnType<T[typeof name]>;
    if (isReadInline(text)) return runInline(name, joinPieces(text), taskOptions) as Result;
    const sent = { name, length: text.length, keepsText: false, options: taskOptions };
    return withBuffer((await runInWorker(sent, text)).result) as Result;
  };
  // Event loop and workers run the same table, so a result has the type of its task.
  return { run, runAndKeep, close: () => pool.close({ force: true }) };
};

type WorkerResult = Exclude<TaskAnswer, { readonly failure: FailureReason }>;

/** A piece alone in its memory, which can be transferred without what lies beside it. */
const ownBytes = (piece: Buffer): Uint8Array<ArrayBuffer> => {
  const { buffer } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.length) return new Uint8Array(buffer);
  return new Uint8Array(piece);
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Cloning leaves of a Buffer only the Uint8Array. */
const withBuffer = (result: object): object =>
  'body' in result && result.body instanceof Uint8Array ? { ...result, body: asBuffer(result.body) } : result;

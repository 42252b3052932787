import { availableParallelism } from 'node:os';
import type { Logger, Metrics } from '@svc/service-kit';
import { Piscina } from 'piscina';
import { type FailureReason, UpstreamFailure } from '../upstream-failure/index.ts';

/** Work on one JSON text. Options and result are cloned between threads, so they are small; a `body` is transferred. */
export type JsonTask = (bytes: Buffer, options: never) => object;

/** Tasks by their names. */
export type JsonTaskTable = Readonly<Record<string, JsonTask>>;

/** A text, with the number of its values. */
export interface JsonText {
  readonly bytes: Buffer;
  readonly values: number;
}

/** A task as it is sent to a worker. */
export interface SentTask {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly options: unknown;
}

/** The answer of a worker. */
export type TaskAnswer = { readonly bytes: Uint8Array } & (
  | { readonly result: object }
  | { readonly failure: FailureReason }
);

/** Runs tasks: small texts on the event loop, where they are not felt, larger ones in worker threads. */
export interface JsonTasks<T extends JsonTaskTable> {
  /** Resolves with the result and the text, which must not be used by the caller meanwhile. */
  readonly run: <N extends keyof T & string>(
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
/** A second worker shortens the wait behind a slow text; more would take the cores from the event loop. */
const WORKERS_MAX = 2;
/** Of a text of 32 MiB and 500,000 values, parsed and validated, with room to spare. */
const WORKER_HEAP_MEGABYTES = 640;
/** Workers give way to the event loop where cores are short. */
const WORKER_NICE = 10;
const WORKER_IDLE_MS = 60_000;

/** Runs every task on the event loop. */
export const runInline = <T extends JsonTaskTable>(tasks: T): JsonTasks<T> => ({
  run: async (name, { bytes }, options) => {
    const task = tasks[name];
    if (task === undefined) throw new TypeError(`there is no task ${name}`);
    // The type of the table says what this very task returns.
    return { bytes, result: task(bytes, options) as ReturnType<T[typeof name]> };
  },
  close: async () => {},
});

/** Opens the pool. Its first worker starts at once, as a thread takes some hundred milliseconds to load its modules. */
export const openJsonTasks = <T extends JsonTaskTable>(options: JsonTasksOptions<T>): JsonTasks<T> => {
  const { logger } = options;
  const pool = new Piscina({
    filename: options.workerFile,
    name: 'run',
    minThreads: 1,
    maxThreads: Math.max(1, Math.min(WORKERS_MAX, availableParallelism() - 1)),
    idleTimeout: WORKER_IDLE_MS,
    concurrentTasksPerWorker: 1,
    niceIncrement: WORKER_NICE,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MEGABYTES },
  });
  pool.on('error', (error: unknown) => logger.error({ err: error }, 'a JSON worker failed'));
  options.metrics.gauge({
    name: 'json_tasks_waiting',
    help: 'Large JSON texts that wait for a worker.',
    read: () => pool.queueSize,
  });
  const inline = runInline(options.tasks);
  return {
    run: async (name, text, taskOptions) => {
      if (text.bytes.length <= INLINE_BYTES_MAX && text.values <= INLINE_VALUES_MAX) {
        return await inline.run(name, text, taskOptions);
      }
      const bytes = ownBytes(text.bytes);
      const sent: SentTask = { name, bytes, options: taskOptions };
      const answer: TaskAnswer = await pool.run(sent, { transferList: [bytes.buffer] });
      if ('failure' in answer) throw new UpstreamFailure(answer.failure);
      return {
        bytes: asBuffer(answer.bytes),
        // The worker runs the same table of tasks.
        result: withBuffer(answer.result) as ReturnType<T[typeof name]>,
      };
    },
    close: () => pool.close({ force: true }),
  };
};

/** A text alone in its memory, which can be transferred without what lies beside it. */
const ownBytes = (bytes: Buffer): Uint8Array<ArrayBuffer> => {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) return new Uint8Array(buffer);
  return new Uint8Array(bytes);
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Cloning leaves of a Buffer only the Uint8Array. */
const withBuffer = (result: object): object =>
  'body' in result && result.body instanceof Uint8Array ? { ...result, body: asBuffer(result.body) } : result;

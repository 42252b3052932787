import { freeBuffer } from '@svc/service-kit';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { keyRequestTasks } from './api-key-requests/read-response.ts';
import { delegatedTasks } from './delegated-requests/rewrite-completion.ts';
import type { JsonTaskTable, SentTask, TaskOutcome } from './large-json/json-tasks.ts';
import { UpstreamFailure } from './upstream-failure.ts';
import { digestRequest } from './wire/index.ts';

/** Tasks on JSON texts. They run in a worker thread if their text is large, else on the event loop. */
export const jsonTasks = { digestRequest, ...delegatedTasks, ...keyRequestTasks } as const;

/** Creates the function that runs tasks in a worker. */
const createTaskRunner =
  (tasks: JsonTaskTable) =>
  ({ name, pieces, length, keepsText, options }: SentTask): object => {
    const task = tasks[name];
    if (task === undefined) throw new TypeError(`there is no task ${name}`);
    const text = join(pieces, length);
    try {
      // `JsonTasks` checks the options against the task.
      const result = task(text, options as never);
      const body = 'body' in result && result.body instanceof Uint8Array ? [result.body.buffer] : [];
      return keepsText ? transfer({ text, result }, [text.buffer, ...body]) : transfer({ result }, body);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      return { failure: error.reason } satisfies TaskOutcome;
    } finally {
      if (!keepsText) freeBuffer(text);
    }
  };

/** Joins the pieces and frees them. */
const join = (pieces: readonly Uint8Array[], length: number): Buffer => {
  const [first] = pieces;
  if (pieces.length === 1 && first?.length === length) return asBuffer(first);
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece.subarray(0, length - at), at);
    at += piece.length;
    freeBuffer(asBuffer(piece));
  }
  return whole;
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const transfer = (response: TaskOutcome, list: readonly ArrayBufferLike[]): object =>
  move({ [transferableSymbol]: list, [valueSymbol]: response });

export const run = createTaskRunner(jsonTasks);

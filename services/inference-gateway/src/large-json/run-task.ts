import { move, transferableSymbol, valueSymbol } from 'piscina';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import type { JsonTaskTable, SentTask, TaskAnswer } from './json-tasks.ts';

/** Runs a task in a worker. The text goes back to the event loop with the result, as it is forwarded from there. */
export const createTaskRunner =
  (tasks: JsonTaskTable) =>
  ({ name, bytes, options }: SentTask): object => {
    const task = tasks[name];
    if (task === undefined) throw new TypeError(`there is no task ${name}`);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      // The event loop has sent the options of this very task.
      const result = task(text, options as never);
      const body = 'body' in result && result.body instanceof Uint8Array ? [result.body.buffer] : [];
      return transfer({ bytes, result }, [bytes.buffer, ...body]);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      return transfer({ bytes, failure: error.reason }, [bytes.buffer]);
    }
  };

const transfer = (answer: TaskAnswer, list: readonly ArrayBufferLike[]): object =>
  move({ [transferableSymbol]: list, [valueSymbol]: answer });

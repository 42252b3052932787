import { queueOptionsSymbol, type TaskQueue } from 'piscina';

type Task = Parameters<TaskQueue['push']>[0];

/** The order of a task among those that wait. */
export interface TaskSize {
  readonly bytes: number;
}

/** Marks a task with its size, for the queue. */
export const withSize = <T extends object>(task: T, size: TaskSize): T => ({
  ...task,
  [queueOptionsSymbol]: size,
});

/** Creates a queue that hands out the shortest text first: one of some hundred kilobytes does not wait behind those of megabytes. */
export const createShortestFirstQueue = (): TaskQueue => {
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

import { queueOptionsSymbol, type TaskQueue } from 'piscina';

type Task = Parameters<TaskQueue['push']>[0];

/** Sort key of a task. */
export interface TaskSize {
  readonly bytes: number;
}

/** Attaches the sort key to a task. */
export const withSize = <T extends object>(task: T, size: TaskSize): T => ({
  ...task,
  [queueOptionsSymbol]: size,
});

/** Creates a queue that returns the shortest text first, so that a small text does not wait behind huge ones. */
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

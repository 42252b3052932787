import { jsonTasks } from './json-tasks.ts';
import { createTaskRunner } from './large-json/run-task.ts';

export const run = createTaskRunner(jsonTasks);

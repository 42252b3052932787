import { jsonTaskTable } from './json-task-table.ts';
import { createTaskRunner } from './large-json/run-task.ts';

export const run = createTaskRunner(jsonTaskTable);

export { collectAnswer } from './collect-answer.ts';
export { JSON_SHAPE_LIMITS, JsonShape, type JsonShapeLimits } from './json-shape.ts';
export { type JsonTasks, type JsonTaskTable, type JsonText, openJsonTasks, runInline } from './json-tasks.ts';
export { createMemoryBudget, type MemoryBudget } from './memory-budget.ts';
export { type HeldText, readJsonBody, type TextMemory } from './read-json-body.ts';

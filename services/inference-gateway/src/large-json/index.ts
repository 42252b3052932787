export type { TextScan } from './collect-text.ts';
export {
  type AnswerLimits,
  collectAnswer,
  type HeldText,
  type JsonText,
  jsonAnswerLimits,
  readJsonBody,
  type TextOwner,
  toText,
} from './collect-text.ts';
export { JsonShape } from './json-shape.ts';
export { isReadInline, type JsonTasks, type JsonTaskTable, openJsonTasks } from './json-tasks.ts';
export { openAnswerMemory, openRequestMemory, type TextMemory, TextRoom } from './text-memory.ts';

export {
  type AnswerLimits,
  collectAnswer,
  type HeldText,
  jsonAnswerLimits,
  readJsonBody,
  type TextOwner,
} from './collect-answer.ts';
export { JsonShape } from './json-shape.ts';
export { isReadInline, type JsonTasks, type JsonTaskTable, openJsonTasks } from './json-tasks.ts';
export { type JsonText, toText } from './json-text.ts';
export type { TextScan } from './text-collector.ts';
export { openAnswerMemory, openRequestMemory, type TextMemory } from './text-memory.ts';
export { TextRoom } from './text-room.ts';

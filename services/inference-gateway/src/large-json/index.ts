export type { TextScan } from './collect-text.ts';
export {
  collectResponse,
  type HeldText,
  type JsonText,
  jsonResponseLimits,
  type ResponseLimits,
  readJsonBody,
  type TextOwner,
  toText,
} from './collect-text.ts';
export { JsonShape } from './json-shape.ts';
export { isReadInline, type JsonTasks, type JsonTaskTable, openJsonTasks } from './json-tasks.ts';
export { openRequestMemory, openResponseMemory, type TextMemory, TextRoom } from './text-memory.ts';

export { bodyForRoute } from './body-for-route.ts';
export { createChunkPattern, SAMPLE_TEXT } from './chunk-pattern.ts';
export {
  boundInputTokens,
  estimateInputTokens,
  estimateUsage,
  largerLimit,
  type Media,
  mediaOf,
  NO_MEDIA,
} from './estimate-tokens.ts';
export {
  applyEdits,
  type ByteEdit,
  findMember,
  insertFirst,
  insertLast,
  type JsonObjectSpan,
  scanObject,
} from './json-members.ts';
export { isRecord, parseRecord, recordableName } from './json-value.ts';
export { outputBytesOf } from './output-bytes.ts';
export { type JsonRequest, readJsonRequest } from './read-json-request.ts';
export { sendJsonText } from './send-json.ts';
export { type Chunk, countChunk, emptyTally, parseChunk, readChunk, type StreamTally } from './stream-tally.ts';
export { tellsError } from './tells-error.ts';
export { readUsage, type TokenUsage } from './token-usage.ts';
export { type RequestBody, wantsUsage } from './upstream-body.ts';

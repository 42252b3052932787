export { createChunkPattern, SAMPLE_TEXT } from './chunk-pattern.ts';
export { cutFaultyLists } from './cut-faulty-lists.ts';
export { digestRequest, type RequestDigest, type RequestKind, type RequestReading } from './digest-request.ts';
export {
  boundInputTokens,
  estimateInputTokens,
  estimateUsage,
  IMAGE_TOKENS_MAX,
  type MediaRule,
} from './estimate-tokens.ts';
export {
  type ByteEdit,
  editPieces,
  findMember,
  insertFirst,
  insertLast,
  type JsonObjectSpan,
} from './json-members.ts';
export { findStringEnd, UNENDED_IN_ESCAPE } from './json-string.ts';
export { isRecord, parseRecord, recordableName } from './json-value.ts';
export { outputBytesOf } from './output-bytes.ts';
export { reportsError } from './reports-error.ts';
export { type AnswerSpan, scanAnswer } from './scan-answer.ts';
export { sendJsonText } from './send-json.ts';
export {
  type Chunk,
  type ChunkDigest,
  countChunk,
  digestChunk,
  emptyTally,
  parseChunk,
  readChunk,
  type StreamTally,
} from './stream-tally.ts';
export { type ReportedUsage, readUsage, type TokenUsage } from './token-usage.ts';
export { type OutputLimitMember, REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from './upstream-body.ts';

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
  findDuplicateKey,
  findMember,
  insertFirst,
  insertLast,
  type JsonMember,
  type JsonObjectSpan,
} from './json-members.ts';
export { findStringEnd, UNENDED_IN_ESCAPE } from './json-string.ts';
export { isRecord, isSet, parseRecord, recordableName } from './json-value.ts';
export { type CallIndexes, MessageDigest, placeCall } from './message-digest.ts';
export {
  contentText,
  createArgumentsReader,
  findElements,
  findValue,
  type MessagePiece,
  type ReadArguments,
  readDeltas,
  readMessages,
  rootStart,
  textOfValue,
} from './message-piece.ts';
export type { OutputBounds } from './output-bounds.ts';
export { outputBytesOf } from './output-bytes.ts';
export {
  ANSWER_KEYS,
  type AnswerSpan,
  isAmbiguousAnswer,
  isEmpty,
  isOurs,
  scanAnswer,
  scanMember,
} from './scan-answer.ts';
export {
  type Chunk,
  type ChunkDigest,
  choiceIndex,
  countChunk,
  digestChunk,
  emptyTally,
  isComplete,
  parseChunk,
  readChunk,
  reportsError,
  type StreamTally,
} from './stream-tally.ts';
export { type ReportedUsage, readUsage, type TokenUsage } from './token-usage.ts';
export { type OutputLimitMember, REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from './upstream-body.ts';

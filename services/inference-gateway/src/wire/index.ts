export { createChunkPattern, SAMPLE_TEXT } from './chunk-pattern.ts';
export { digestRequest, type RequestDigest, type RequestKind, type RequestReading } from './digest-request.ts';
export {
  type ByteEdit,
  editPieces,
  findDuplicateKey,
  findMember,
  findStringEnd,
  insertFirst,
  insertLast,
  type JsonMember,
  type JsonObjectSpan,
  UNENDED_IN_ESCAPE,
} from './json-members.ts';
export { cutFaultyLists, isRecord, isSet, parseRecord, recordableName } from './json-value.ts';
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
export type { OutputBounds } from './request-bounds.ts';
export {
  isAmbiguousResponse,
  isEmpty,
  isOurs,
  RESPONSE_KEYS,
  type ResponseSpan,
  scanMember,
  scanResponse,
} from './scan-response.ts';
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
export {
  boundInputTokens,
  estimateInputTokens,
  estimateUsage,
  IMAGE_TOKENS_MAX,
  type MediaRule,
  outputBytesOf,
  type ReportedUsage,
  readUsage,
  type TokenUsage,
} from './token-usage.ts';
export { type OutputLimitMember, REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from './upstream-body.ts';

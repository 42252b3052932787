export { boundInputTokens, estimateInputTokens, estimateUsage } from './estimate-tokens.ts';
export {
  applyEdits,
  type ByteEdit,
  findDuplicateKey,
  findMember,
  insertFirst,
  insertLast,
  type JsonObjectSpan,
  scanObject,
} from './json-members.ts';
export { type JsonRequest, readJsonRequest } from './read-json-request.ts';
export { sendJsonText } from './send-json.ts';
export { readUsage, type TokenUsage } from './token-usage.ts';
export { type RequestBody, toUpstreamBody, wantsUsage } from './upstream-body.ts';

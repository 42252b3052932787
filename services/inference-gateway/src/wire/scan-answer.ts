import { findDuplicateKey, findMember, type JsonMember, type JsonObjectSpan, scanObject } from './json-members.ts';
import { USAGE_MEMBERS } from './token-usage.ts';

/** Members of an answer that the gateway reads or writes. */
const ANSWER_KEYS: ReadonlySet<string> = new Set([
  'model',
  'id',
  'usage',
  'extensions',
  'choices',
  'data',
  'object',
  'error',
]);
const USAGE_KEYS: ReadonlySet<string> = new Set(USAGE_MEMBERS);
const EXTENSION_KEYS: ReadonlySet<string> = new Set(['compliance_metadata']);
const OPEN_BRACE = 0x7b;

/** Offsets of the members of an answer, and of its `extensions`, that the gateway reads or writes. */
export interface AnswerSpan {
  readonly span: JsonObjectSpan;
  /** Undefined unless `extensions` is an object. */
  readonly extensions: JsonObjectSpan | undefined;
  /** True if a member that is read or written is repeated, so that two parsers could read different answers. */
  readonly isAmbiguous: boolean;
}

/** Finds the members of an answer or chunk. Throws RangeError if the text is not an object. */
export const scanAnswer = (bytes: Buffer): AnswerSpan => {
  const span = scanObject(bytes, 0, ANSWER_KEYS);
  const extensions = scanNested(bytes, findMember(span, 'extensions'), EXTENSION_KEYS);
  const usage = scanNested(bytes, findMember(span, 'usage'), USAGE_KEYS);
  const isAmbiguous = [span, extensions, usage].some((part) => part !== undefined && hasDuplicate(part));
  return { span, extensions, isAmbiguous };
};

const hasDuplicate = (span: JsonObjectSpan): boolean => findDuplicateKey(span) !== undefined;

const scanNested = (
  bytes: Buffer,
  member: JsonMember | undefined,
  keys: ReadonlySet<string>,
): JsonObjectSpan | undefined =>
  member === undefined || bytes[member.valueStart] !== OPEN_BRACE
    ? undefined
    : scanObject(bytes, member.valueStart, keys);

import {
  findDuplicateKey,
  findMember,
  type JsonMember,
  type JsonObjectSpan,
  type KeyFilter,
  scanObject,
} from './json-members.ts';
import { USAGE_MEMBERS } from './token-usage.ts';

/** Members of a response that the gateway reads or writes. */
const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'id',
  'usage',
  'extensions',
  'choices',
  'data',
  'object',
  'error',
]);
/** Members with this prefix are ours. */
const OUR_PREFIX = 'svc_';
/** Returns true for a member of the root that only the gateway writes. */
export const isOurs = (key: string): boolean => key.startsWith(OUR_PREFIX);
/** Names of the members that are listed. */
export const RESPONSE_KEYS: KeyFilter = { has: (key) => ANSWER_MEMBERS.has(key) || isOurs(key) };
const USAGE_KEYS: ReadonlySet<string> = new Set(USAGE_MEMBERS);
/** Members of `extensions` that only the gateway writes. */
const OUR_EXTENSIONS: ReadonlySet<string> = new Set(['compliance_metadata', 'provenance']);
const OPEN_BRACE = 0x7b;

/** Offsets of the members of a response, and of its `extensions`, that the gateway reads or writes. */
export interface ResponseSpan {
  readonly span: JsonObjectSpan;
  /** Undefined unless `extensions` is an object. */
  readonly extensions: JsonObjectSpan | undefined;
  /**
   * True if the provider writes a member that only the gateway writes, or repeats one that is read or written, so that two
   * parsers could read different responses.
   */
  readonly isAmbiguous: boolean;
}

/** Finds the members of a response or chunk. Throws RangeError if the text is not an object. */
export const scanResponse = (bytes: Buffer): ResponseSpan => {
  const span = scanObject(bytes, 0, RESPONSE_KEYS);
  const extensions = scanNested(bytes, findMember(span, 'extensions'), OUR_EXTENSIONS);
  const usage = scanNested(bytes, findMember(span, 'usage'), USAGE_KEYS);
  const isRepeated = [span, extensions, usage].some((part) => part !== undefined && hasDuplicate(part));
  const claims = [...span.members.filter(({ key }) => isOurs(key)), ...(extensions?.members ?? [])];
  return { span, extensions, isAmbiguous: isRepeated || claims.some((claim) => !isEmpty(bytes, claim)) };
};

/** Returns true for an ambiguous response or chunk; false for text that is not an object, which its reader rejects. */
export const isAmbiguousResponse = (bytes: Buffer): boolean => {
  try {
    return scanResponse(bytes).isAmbiguous;
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return false;
    throw error;
  }
};

/** A member that says nothing claims nothing. */
const EMPTY_VALUE = /^(null|""|\{\s*\}|\[\s*\])$/;
const EMPTY_VALUE_BYTES_MAX = 64;

export const isEmpty = (
  bytes: Buffer,
  { valueStart, valueEnd }: Pick<JsonMember, 'valueStart' | 'valueEnd'>,
): boolean =>
  valueEnd - valueStart <= EMPTY_VALUE_BYTES_MAX && EMPTY_VALUE.test(bytes.toString('latin1', valueStart, valueEnd));

const hasDuplicate = (span: JsonObjectSpan): boolean => findDuplicateKey(span) !== undefined;

/** Finds the members of the value of `extensions` or `usage` that the gateway reads; undefined unless it is an object. */
export const scanMember = (value: Buffer, name: 'extensions' | 'usage'): JsonObjectSpan | undefined =>
  value[0] === OPEN_BRACE ? scanObject(value, 0, name === 'usage' ? USAGE_KEYS : OUR_EXTENSIONS) : undefined;

const scanNested = (
  bytes: Buffer,
  member: JsonMember | undefined,
  keys: ReadonlySet<string>,
): JsonObjectSpan | undefined =>
  member === undefined || bytes[member.valueStart] !== OPEN_BRACE
    ? undefined
    : scanObject(bytes, member.valueStart, keys);

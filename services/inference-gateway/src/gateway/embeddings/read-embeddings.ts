import { UpstreamFailure } from '../../upstream-failure.ts';
import {
  type AnswerSpan,
  findDuplicateKey,
  findMember,
  isEmpty,
  isOurs,
  isRecord,
  type JsonObjectSpan,
  type ReportedUsage,
  readUsage,
  recordableName,
  reportsError,
  scanMember,
} from '../../wire/index.ts';
import type { AmbiguousAnswer } from '../read-answer.ts';
import type { ScannedMember, ScannedSpan } from './embeddings-scan.ts';

/** The parts of an embeddings answer that the gateway reads. */
export interface EmbeddingsReading extends Omit<AnswerSpan, 'isAmbiguous'> {
  readonly isAmbiguous: false;
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
}

/**
 * Reads the scanned members of an embeddings answer. Throws UpstreamFailure: `failed` if the provider reports an error,
 * `garbled` if the answer is not a JSON object or the parts read are damaged.
 */
export const readEmbeddings = (
  span: ScannedSpan | undefined,
  contextTokensMax: number,
): EmbeddingsReading | AmbiguousAnswer => {
  if (span === undefined) throw new UpstreamFailure('garbled');
  try {
    return readMembers(span, contextTokensMax);
  } catch (error) {
    // The error is not kept as the cause: its message could quote the answer.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

const readMembers = (span: ScannedSpan, contextTokensMax: number): EmbeddingsReading | AmbiguousAnswer => {
  const bytesOf = (key: string): Buffer => memberOf(span, key)?.value ?? NOTHING;
  const read = (key: string): unknown => (memberOf(span, key) === undefined ? undefined : parseValue(bytesOf(key)));
  if (findMember(span, 'data') === undefined && reportsError({ error: read('error'), object: read('object') })) {
    throw new UpstreamFailure('failed');
  }
  // Parsing the extensions finds damaged ones before the request is settled.
  read('extensions');
  const theirs = scanMember(bytesOf('extensions'), 'extensions');
  const nested = [span, theirs, scanMember(bytesOf('usage'), 'usage')];
  if (nested.some((part) => part !== undefined && findDuplicateKey(part) !== undefined)) return { isAmbiguous: true };
  if (claimsOurs(span) || theirs?.members.some((member) => !isEmpty(bytesOf('extensions'), member))) {
    return { isAmbiguous: true };
  }
  return {
    isAmbiguous: false,
    span,
    extensions: theirs && shifted(theirs, memberOf(span, 'extensions')?.valueStart ?? 0),
    id: recordableName(read('id')),
    model: recordableName(read('model')),
    usage: readUsage(withoutOutput(read('usage')), contextTokensMax),
  };
};

const NOTHING = Buffer.alloc(0);

/** Returns true if the provider writes a member that only the gateway writes. */
const claimsOurs = ({ members }: ScannedSpan): boolean =>
  members.some(
    ({ key, value }) =>
      isOurs(key) && (value === undefined || !isEmpty(value, { valueStart: 0, valueEnd: value.length })),
  );

const memberOf = (span: ScannedSpan, key: string): ScannedMember | undefined =>
  span.members.findLast((member) => member.key === key);

/** Embeddings have no output, so that the input alone is their whole usage. */
const withoutOutput = (usage: unknown): unknown =>
  isRecord(usage) ? { ...usage, completion_tokens: usage['completion_tokens'] ?? 0 } : usage;

const parseValue = (value: Buffer): unknown => JSON.parse(value.toString());

/** Returns a span with offsets into the whole text. */
const shifted = (span: JsonObjectSpan, by: number): JsonObjectSpan => ({
  open: span.open + by,
  close: span.close + by,
  lastValueEnd: span.lastValueEnd === undefined ? undefined : span.lastValueEnd + by,
  members: span.members.map((member) => ({
    key: member.key,
    keyStart: member.keyStart + by,
    keyEnd: member.keyEnd + by,
    valueStart: member.valueStart + by,
    valueEnd: member.valueEnd + by,
    commaBefore: undefined,
    commaAfter: undefined,
  })),
});

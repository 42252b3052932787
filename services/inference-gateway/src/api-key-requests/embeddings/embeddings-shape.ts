import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { ResponseShape } from '../../forwarding/index.ts';
import type { JsonText } from '../../large-json/index.ts';
import { UpstreamFailure } from '../../upstream-failure.ts';
import {
  findDuplicateKey,
  findMember,
  isEmpty,
  isOurs,
  isRecord,
  type JsonObjectSpan,
  type ReportedUsage,
  type ResponseSpan,
  readUsage,
  recordableName,
  reportsError,
  scanMember,
} from '../../wire/index.ts';
import { namesOf, prove } from '../attribution.ts';
import { type CertifiedShapeOptions, certifiedShape } from '../certified-shape.ts';
import { complianceHeadersOf, stampEdits } from '../compliance.ts';
import type { AmbiguousResponse } from '../read-response.ts';
import { EmbeddingsScan, type ScannedMember, type ScannedSpan } from './embeddings-scan.ts';

/** The parts of an embeddings response that the gateway reads. */
interface EmbeddingsReading extends Omit<ResponseSpan, 'isAmbiguous'> {
  readonly isAmbiguous: false;
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
}

/**
 * Reads the scanned members of an embeddings response. Throws UpstreamFailure: `failed` if the provider reports an error,
 * `garbled` if the response is not a JSON object or the parts read are damaged.
 */
export const readEmbeddings = (
  span: ScannedSpan | undefined,
  contextTokensMax: number,
): EmbeddingsReading | AmbiguousResponse => {
  if (span === undefined) throw new UpstreamFailure('garbled');
  try {
    return readMembers(span, contextTokensMax);
  } catch (error) {
    // The error is not kept as the cause: its message could quote the response.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

const readMembers = (span: ScannedSpan, contextTokensMax: number): EmbeddingsReading | AmbiguousResponse => {
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

/** Some 2,048 inputs of 3,072 numbers. */
export const EMBEDDINGS_RESPONSE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Shapes embeddings for API keys. Their long lists of numbers are scanned while they arrive and never parsed, so that they
 * may be much larger than other responses.
 */
export const embeddingsShape = (
  deps: Parameters<typeof certifiedShape>[0],
  options: CertifiedShapeOptions,
): ResponseShape => ({
  ...certifiedShape(deps, options),
  openReader: () => {
    const scan = new EmbeddingsScan();
    return {
      limits: { bytesMax: EMBEDDINGS_RESPONSE_BYTES_MAX, scan },
      shape: async (routed, text) => {
        const response = readEmbeddings(scan.span(), routed.route.contextTokensMax);
        if (response.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
        const metadata = prove(deps, options.requestId, routed, response);
        return {
          body: options.mode === 'full' ? stampPieces(text, response, metadata) : piecesOf(text),
          memory: text.pieces,
          headers: complianceHeadersOf(metadata),
          usage: response.usage,
          outputBytes: 0,
          ...namesOf(metadata),
        };
      },
    };
  },
});

/** Returns the pieces of a text without the unused end of the last one. */
const piecesOf = ({ pieces, length }: JsonText): Buffer[] => {
  let left = length;
  return pieces.map((piece) => {
    const part = piece.subarray(0, left);
    left -= part.length;
    return part;
  });
};

/** Adds the metadata to a text in pieces, without joining them. */
const stampPieces = (text: JsonText, response: EmbeddingsReading, metadata: ComplianceMetadata): Buffer[] => {
  const pieces = piecesOf(text);
  let position = 0;
  const stamped = stampEdits(response, { compliance_metadata: metadata }).flatMap(({ start, end, text: added }) => {
    const before = slice(pieces, position, start);
    position = end;
    return [...before, Buffer.from(added)];
  });
  return [...stamped, ...slice(pieces, position, text.length)];
};

const slice = (pieces: readonly Buffer[], start: number, end: number): Buffer[] => {
  let at = 0;
  return pieces.flatMap((piece) => {
    const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += piece.length;
    return part.length === 0 ? [] : [part];
  });
};

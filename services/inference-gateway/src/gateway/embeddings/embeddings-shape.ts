import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { AnswerShape } from '../../completions/index.ts';
import { complianceHeadersOf, stampEdits } from '../../compliance/index.ts';
import type { JsonText } from '../../large-json/index.ts';
import { type CertifiedShapeOptions, certifiedShape } from '../certified-shape.ts';
import { namesOf, prove } from '../prove.ts';
import { EmbeddingsScan } from './embeddings-scan.ts';
import { type EmbeddingsReading, readEmbeddings } from './read-embeddings.ts';

/** Some 2,048 inputs of 3,072 numbers. */
export const EMBEDDINGS_ANSWER_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Shapes embeddings for API keys. Their long lists of numbers are scanned while they arrive and never parsed, so that they
 * may be much larger than other answers.
 */
export const embeddingsShape = (
  deps: Parameters<typeof certifiedShape>[0],
  options: CertifiedShapeOptions,
): AnswerShape => ({
  ...certifiedShape(deps, options),
  openReader: () => {
    const scan = new EmbeddingsScan();
    return {
      limits: { bytesMax: EMBEDDINGS_ANSWER_BYTES_MAX, scan },
      shape: async (routed, text) => {
        const answer = readEmbeddings(scan.span(), routed.route.contextTokensMax);
        if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
        const metadata = prove(deps, options.requestId, routed, answer);
        return {
          body: options.mode === 'full' ? stampPieces(text, answer, metadata) : piecesOf(text),
          memory: text.pieces,
          headers: complianceHeadersOf(metadata),
          usage: answer.usage,
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
const stampPieces = (text: JsonText, answer: EmbeddingsReading, metadata: ComplianceMetadata): Buffer[] => {
  const pieces = piecesOf(text);
  let position = 0;
  const stamped = stampEdits(answer, { compliance_metadata: metadata }).flatMap(({ start, end, text: added }) => {
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

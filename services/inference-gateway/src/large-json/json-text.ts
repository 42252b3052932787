/** A text as it was collected. */
export interface JsonText {
  /** The last one may have room behind the end of the text. */
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** Root, members and elements. */
  readonly values: number;
}

/** A text that is there as a whole, and too long for its values to matter. */
export const toText = (bytes: Buffer): JsonText => ({
  pieces: [bytes],
  length: bytes.length,
  values: Number.POSITIVE_INFINITY,
});

/** Puts the pieces of a text together. A single piece is not copied. */
export const joinPieces = ({ pieces, length }: Pick<JsonText, 'pieces' | 'length'>): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first.subarray(0, length) : Buffer.concat(pieces, length);
};

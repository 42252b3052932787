/** A JSON text in pieces. */
export interface JsonText {
  /** The last piece may extend beyond the end of the text. */
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** Number of values: root, members and elements. */
  readonly values: number;
}

/** Wraps a large text. Its values need not be counted: its size alone sends it to a worker. */
export const toText = (bytes: Buffer): JsonText => ({
  pieces: [bytes],
  length: bytes.length,
  values: Number.POSITIVE_INFINITY,
});

/** Joins the pieces of a text. A single piece is not copied. */
export const joinPieces = ({ pieces, length }: Pick<JsonText, 'pieces' | 'length'>): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first.subarray(0, length) : Buffer.concat(pieces, length);
};

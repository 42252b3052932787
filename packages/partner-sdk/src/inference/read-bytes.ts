/** Reads a whole body. Throws `RangeError` once it exceeds `bytesMax`. */
export const readBytes = async (body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array> => {
  if (body === null) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the body.
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > bytesMax) throw new RangeError(`The answer is larger than ${bytesMax} bytes.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
};

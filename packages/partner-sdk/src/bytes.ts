/** Decodes base64 or base64url; undefined for any other text. */
export const decodeBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

/** Encodes without padding (RFC 7636 appendix A). */
export const encodeBase64Url = (bytes: Uint8Array): string =>
  encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

export const encodeBase64 = (bytes: Uint8Array): string => {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};

export const concatBytes = (...pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
};

/** Reads a whole body. Throws `RangeError` once it exceeds `bytesMax`. */
export const readBytes = async (
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = body?.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > bytesMax) {
      await reader.cancel();
      throw new RangeError(`The body is larger than ${bytesMax} bytes.`);
    }
    pieces.push(value);
  }
  return concatBytes(...pieces);
};

/** Copies a text to an unpooled buffer, which a worker can transfer. */
export const toOwnBuffer = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

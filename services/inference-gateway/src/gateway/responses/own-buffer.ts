/** Writes a text into memory of its own, which a worker can transfer: small buffers usually share a pool. */
export const toOwnBuffer = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

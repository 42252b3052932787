/**
 * Frees the memory of a buffer that is of no more use, unless it shares that memory. The garbage collector would let tens of
 * megabytes of such buffers come together, and then collect the whole heap for them.
 */
export const freeBuffer = ({ buffer, length }: Buffer): void => {
  if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
};

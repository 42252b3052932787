/**
 * Frees the memory of an unused buffer, unless the memory is shared. The garbage collector would otherwise let tens of
 * megabytes accumulate and then collect the whole heap.
 */
export const freeBuffer = ({ buffer, length }: Buffer): void => {
  if (length > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
};

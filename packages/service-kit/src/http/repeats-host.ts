import type { IncomingMessage } from 'node:http';

/**
 * Returns true for a second `Host` header (RFC 9112 §3.2: respond with 400). Node keeps the first in `headers`, other
 * software the last, so only `rawHeaders` shows the ambiguity.
 */
export const repeatsHost = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
};

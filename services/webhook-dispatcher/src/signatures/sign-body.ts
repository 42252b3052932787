import { createHmac } from 'node:crypto';

/**
 * Returns the value of the signature header: `t=<unix seconds>,v1=<hex HMAC-SHA256>` over the timestamp's text, a dot and the raw
 * body. The key is the whole secret as shown to the owner, prefix included, in UTF-8.
 */
export const signBody = (secret: string, body: Uint8Array, unixSeconds: number): string => {
  const digest = createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex');
  return `t=${unixSeconds},v1=${digest}`;
};

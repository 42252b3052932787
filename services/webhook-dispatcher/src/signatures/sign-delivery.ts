import { createHmac } from 'node:crypto';
import { STANDARD_WEBHOOK_HEADERS, WEBHOOK_SIGNATURE_HEADER } from '@svc/contracts';

/** A delivery to sign, and its secrets: the current one first. */
export interface SignedDelivery {
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly unixSeconds: number;
  readonly secrets: readonly string[];
}

const SECRET_PREFIX = 'whsec_';

/**
 * Returns the signature headers of a delivery, with one signature for each secret.
 *
 * Ours is `t=<unix seconds>,v1=<hex HMAC-SHA256>` over the timestamp, a dot and the raw body, with the whole secret in UTF-8 as
 * the key. Those of Standard Webhooks sign the event id as well, with the decoded part of the secret behind its prefix.
 */
export const signDelivery = ({ eventId, body, unixSeconds, secrets }: SignedDelivery): Record<string, string> => {
  const own = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex')}`,
  );
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${eventId}.${unixSeconds}.`).update(body).digest('base64')}`;
  });
  return {
    [WEBHOOK_SIGNATURE_HEADER]: [`t=${unixSeconds}`, ...own].join(','),
    [STANDARD_WEBHOOK_HEADERS.id]: eventId,
    [STANDARD_WEBHOOK_HEADERS.timestamp]: String(unixSeconds),
    [STANDARD_WEBHOOK_HEADERS.signature]: standard.join(' '),
  };
};

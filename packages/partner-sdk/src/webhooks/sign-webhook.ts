import { encodeBase64 } from '../bytes.ts';
import { STANDARD_WEBHOOK_HEADERS, WEBHOOK_SIGNATURE_HEADER } from '../generated/webhooks.ts';
import { HMAC, standardKeyOf } from './signature-headers.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** A delivery as the service sends it. */
export interface SignedDelivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs an event as the service does, in both forms. For tests of a receiver: give it the body and headers as a request.
 * `now` is the signed time.
 */
export const signWebhook = async (
  event: WebhookEvent,
  secret: string,
  { now = new Date() }: { readonly now?: Date | undefined } = {},
): Promise<SignedDelivery> => {
  const body = JSON.stringify(event);
  const seconds = Math.floor(now.getTime() / 1000);
  const own = await hmac(new TextEncoder().encode(secret), `${seconds}.${body}`);
  const standard = await hmac(standardKeyOf(secret), `${event.event_id}.${seconds}.${body}`);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      [WEBHOOK_SIGNATURE_HEADER]: `t=${seconds},v1=${Array.from(own, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
      [STANDARD_WEBHOOK_HEADERS.id]: event.event_id,
      [STANDARD_WEBHOOK_HEADERS.timestamp]: String(seconds),
      [STANDARD_WEBHOOK_HEADERS.signature]: `v1,${encodeBase64(standard)}`,
    },
  };
};

const hmac = async (key: Uint8Array<ArrayBuffer>, input: string): Promise<Uint8Array> => {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign(HMAC, imported, new TextEncoder().encode(input)));
};

import type { Clock } from '@svc/service-kit';
import type { StripeTransport } from './stripe-client.ts';

/** Shorter than the age at which an interrupted charge is dropped, and far shorter than the life of a key. */
const SEND_WITHIN_MS = 50_000;
const HEADER = 'Idempotency-Key';
const MARK = '#until=';

/**
 * Idempotency key of a write that moves money or makes an object. Stripe forgets a key after a day, and a machine may sleep
 * for longer in the middle of a call. So the caller first looks for what an earlier attempt has made, unless the key is new.
 * After `lookedAt`, which it takes before it looks, the write is sent and repeated for a short time only: two writes with
 * one key are never a day apart. Later ones fail like an outage, and the caller looks again.
 */
export const keySince = (key: string, lookedAt: Date): string => `${key}${MARK}${lookedAt.getTime() + SEND_WITHIN_MS}`;

/**
 * Sends no write whose time is over. Stripe's library repeats a closed connection even if told not to, so the time is checked
 * here, before each request.
 */
export const sendInTime = (transport: StripeTransport, clock: Clock): StripeTransport => ({
  getClientName: () => transport.getClientName(),
  makeRequest: async (...request) => {
    const [host, port, path, method, headers, ...rest] = request;
    const [key = '', until] = String(Object(headers)[HEADER] ?? '').split(MARK);
    if (until === undefined) return await transport.makeRequest(...request);
    if (clock().getTime() > Number(until)) throw new Error('this write is late; the next attempt looks first');
    return await transport.makeRequest(host, port, path, method, { ...Object(headers), [HEADER]: key }, ...rest);
  },
});

import type { Clock } from '@svc/service-kit';
import type { StripeTransport } from './stripe-client.ts';

/** Shorter than the age at which an interrupted charge is dropped, and far shorter than the life of a key. */
const SEND_WITHIN_MS = 50_000;
const HEADER = 'Idempotency-Key';
const MARK = '#until=';

/**
 * Returns the idempotency key of a write that moves money or creates an object, with the end of the time in which it may be
 * sent. Stripe forgets a key after a day, and a machine may sleep for longer in the middle of a call. So callers first look
 * for the result of an earlier attempt, unless the key is new. `lookedAt` is the moment before that. Two writes with one key
 * are then never a day apart. A later write fails like an outage, and the next attempt looks again.
 */
export const keySince = (key: string, lookedAt: Date): string => `${key}${MARK}${lookedAt.getTime() + SEND_WITHIN_MS}`;

/**
 * Refuses writes whose time is over, and removes that time from the key. Checks each request, because Stripe's library
 * repeats requests itself, after a closed connection even with its retries turned off.
 */
export const sendInTime = (transport: StripeTransport, clock: Clock): StripeTransport => ({
  getClientName: () => transport.getClientName(),
  makeRequest: async (...request) => {
    const [host, port, path, method, headers, ...rest] = request;
    const [key = '', until] = String(Object(headers)[HEADER] ?? '').split(MARK);
    if (until === undefined) return await transport.makeRequest(...request);
    if (clock().getTime() > Number(until)) throw new Error('the time for this write is over');
    return await transport.makeRequest(host, port, path, method, { ...Object(headers), [HEADER]: key }, ...rest);
  },
});

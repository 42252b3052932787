import type { StripeTransport } from '@svc/billing/src/payments/index.ts';
import { parseForm, type StripeStandIn } from '@svc/sandbox/stripe';
import type { Network } from './network.ts';

const TIMEOUT_MS = 10_000;

/** Sends the requests of one process to Stripe over the simulated network. */
export const stripeTransport = (name: string, network: Network, stripe: StripeStandIn): StripeTransport => ({
  getClientName: () => 'simulation',
  makeRequest: async (...request) => {
    const [, , url, method, headers, body] = request;
    const sentMs = Date.now();
    const { pathname: path, search } = new URL(url, 'http://stripe.test');
    const answer = await network.call({ from: name, to: 'payments', timeoutMs: TIMEOUT_MS }, async () => {
      // Stripe does not sleep when our machines do. It has closed the connections then.
      if (Date.now() - sentMs > TIMEOUT_MS) return undefined;
      return await stripe.answer({
        method,
        path,
        params: parseForm(new URLSearchParams(body || search)),
        isAuthorized: true,
        idempotencyKey: textOf(headers, 'Idempotency-Key'),
        version: undefined,
      });
    });
    if (answer === undefined) throw new Error('the connection was closed');
    return {
      getStatusCode: () => answer.status,
      getHeaders: () => ({}),
      getRawResponse: () => ({}),
      toStream: () => undefined,
      // The library adds members to what it gets, and the answer may be kept for its idempotency key.
      toJSON: async () => structuredClone(answer.body),
    };
  },
});

const textOf = (headers: unknown, name: string): string | undefined => {
  const value: unknown = Object(headers)[name];
  return typeof value === 'string' ? value : undefined;
};

import { Stripe } from 'stripe';
import type { StripeTransport } from './stripe-client.ts';

/** A request that a dry run did not send. */
export interface WithheldRequest {
  readonly method: string;
  readonly path: string;
}

/** Sends only requests that read. Notes the others and answers them with an empty object. */
export const withoutWrites = (
  note: (request: WithheldRequest) => void,
  transport: StripeTransport = Stripe.createNodeHttpClient(),
): StripeTransport => ({
  getClientName: () => transport.getClientName(),
  makeRequest: async (...request) => {
    const [, , path, method] = request;
    if (method === 'GET') return await transport.makeRequest(...request);
    note({ method, path });
    return EMPTY;
  },
});

const EMPTY = {
  getStatusCode: () => 200,
  getHeaders: () => ({}),
  getRawResponse: () => ({}),
  toStream: () => undefined,
  toJSON: async () => ({}),
};

import { AppError, type Clock, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { Stripe } from 'stripe';
import { z } from 'zod';
import type { ProviderMeters } from './provider-meters.ts';

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
const sendInTime = (transport: StripeTransport, clock: Clock): StripeTransport => ({
  getClientName: () => transport.getClientName(),
  makeRequest: async (...request) => {
    const [host, port, path, method, headers, ...rest] = request;
    const [key = '', until] = String(Object(headers)[HEADER] ?? '').split(MARK);
    if (until === undefined) return await transport.makeRequest(...request);
    if (clock().getTime() > Number(until)) throw new Error('the time for this write is over');
    return await transport.makeRequest(host, port, path, method, { ...Object(headers), [HEADER]: key }, ...rest);
  },
});

/** Version of Stripe's API that this code and its types are written for. */
const API_VERSION = '2026-09-30.endive';
const TIMEOUT_MS = 10_000;
/** Retries with backoff. The library repeats writes with the same idempotency key. */
const RETRIES_MAX = 2;

export interface StripeDeps {
  readonly database: Knex;
  readonly stripe: Stripe;
  readonly clock: Clock;
}

/** Sends requests to Stripe, as the clients of its library do. */
export type StripeTransport = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;

export interface StripeSettings {
  readonly secretKey: string;
  readonly apiBase: string;
}

/** Creates a client of Stripe's API. Every request and repetition is counted by its outcome. */
export const createStripeClient = (
  { secretKey, apiBase }: StripeSettings,
  meters: Pick<ProviderMeters, 'requested'>,
  clock: Clock,
  transport: StripeTransport = Stripe.createNodeHttpClient(),
): Stripe => {
  const { protocol, hostname, port } = new URL(apiBase);
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
    httpClient: sendInTime(countRequests(transport, meters), clock),
  });
};

const countRequests = (transport: StripeTransport, { requested }: Pick<ProviderMeters, 'requested'>) => {
  const makeRequest: StripeTransport['makeRequest'] = async (...request) => {
    try {
      const response = await transport.makeRequest(...request);
      requested(response.getStatusCode());
      return response;
    } catch (error) {
      requested(undefined);
      throw error;
    }
  };
  return { getClientName: () => transport.getClientName(), makeRequest };
};

/**
 * Runs a call to Stripe. Throws `payment_provider_unavailable` if Stripe does not answer, is overloaded or refuses our
 * key. Other errors are faults of our request and are rethrown.
 */
export const askStripe = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (isOutage(error)) throw new AppError('payment_provider_unavailable', undefined, { cause: error });
    throw error;
  }
};

/** Runs a call like `askStripe`, but returns undefined if the object does not exist. */
export const askForOne = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await askStripe(ask);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

const REFUSED =
  'The payment provider does not accept this request. Nothing was charged; the operator has to correct it.';
const AMOUNT_CODES: ReadonlySet<string | undefined> = new Set(['amount_too_small', 'amount_too_large']);

/**
 * Runs a call that a person waits for. Throws 422 for an amount that Stripe does not charge, and
 * `payment_provider_unavailable` for any other request that Stripe refuses, such as one with an archived price.
 */
export const askForPerson = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await askStripe(ask);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || isMissingCustomer(error)) throw error;
    if (AMOUNT_CODES.has(error.code)) {
      const message = 'Value error, the payment provider does not charge this amount';
      throw invalidField(['body', 'amount_micros'], 'value_error', message);
    }
    throw new AppError('payment_provider_unavailable', REFUSED, { cause: error });
  }
};

/** Returns true if Stripe does not know an object of the request. */
export const isMissing = (error: unknown): error is Stripe.errors.StripeInvalidRequestError =>
  error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing';

/** Returns true if Stripe does not know the customer of a request: deleted, or of another account or mode. */
export const isMissingCustomer = (error: unknown): boolean => isMissing(error) && error.param === 'customer';

const isOutage = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeConnectionError ||
  error instanceof Stripe.errors.StripeAPIError ||
  error instanceof Stripe.errors.StripeRateLimitError ||
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError;

/** A reference of Stripe: an id, or the object itself where it is expanded. */
export const referenceSchema = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

/** Returns the id of a Stripe reference, expanded or not. */
export const idOf = (reference: string | { readonly id: string }): string =>
  typeof reference === 'string' ? reference : reference.id;

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

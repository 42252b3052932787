import { AppError, type Clock, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { Stripe } from 'stripe';
import type { ProviderMeters } from './provider-meters.ts';
import { sendInTime } from './send-in-time.ts';

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

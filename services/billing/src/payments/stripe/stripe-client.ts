import { AppError } from '@svc/service-kit';
import { Stripe } from 'stripe';

/** Version of Stripe's API that this code and its types are written for. */
const API_VERSION = '2026-09-30.endive';
const TIMEOUT_MS = 10_000;
/** Retries with backoff. The library repeats writes with the same idempotency key. */
const RETRIES_MAX = 2;

export interface StripeSettings {
  readonly secretKey: string;
  readonly apiBase: string;
}

export const createStripeClient = ({ secretKey, apiBase }: StripeSettings): Stripe => {
  const { protocol, hostname, port } = new URL(apiBase);
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
  });
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
    if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing') return undefined;
    throw error;
  }
};

const isOutage = (error: unknown): boolean =>
  error instanceof Stripe.errors.StripeConnectionError ||
  error instanceof Stripe.errors.StripeAPIError ||
  error instanceof Stripe.errors.StripeRateLimitError ||
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError;

import { AppError } from '@svc/service-kit';
import { Stripe } from 'stripe';

/** The version of Stripe's API that this code and its types are written for. */
const API_VERSION = '2026-09-30.endive';
const TIMEOUT_MS = 10_000;
/** With growing delays; the library repeats writes under their idempotency key. */
const RETRIES_MAX = 2;

/** How Stripe is reached. */
export interface StripeSettings {
  readonly secretKey: string;
  readonly apiBase: string;
}

/** Makes the client of Stripe's API. */
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
 * Asks Stripe. Throws `payment_provider_unavailable` where it does not answer, is overloaded or refuses our key; what Stripe
 * finds wrong with a request is a fault of ours and stays one.
 */
export const askStripe = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (isOutage(error)) throw new AppError('payment_provider_unavailable', undefined, { cause: error });
    throw error;
  }
};

/** As `askStripe`; undefined for what Stripe does not have. */
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

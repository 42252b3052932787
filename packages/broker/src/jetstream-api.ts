import { serviceNames } from '@svc/contracts';
import type { JetStreamOptions } from 'nats';
import { type BrokerAddress, connectionOptions } from './connection-options.ts';

/** Account that holds the streams and the bucket. Only the operator has a user in it. */
export const FACTS_ACCOUNT = 'facts';

/**
 * Prefix under which a service reaches the JetStream of the account `facts`. Under the default prefix every account has
 * a separate API, even one without JetStream, and both would answer.
 */
export const SERVICE_API_PREFIX = `${FACTS_ACCOUNT}.API`;

/** Options of the JetStream client for the user that an address names. */
export const jetStreamOptions = (address: Pick<BrokerAddress, 'url'>): JetStreamOptions => {
  const { user } = connectionOptions({ url: address.url });
  return serviceNames.some((service) => service === user) ? { apiPrefix: SERVICE_API_PREFIX } : {};
};

import { isIP } from 'node:net';

/**
 * Returns the origins of our pages. Browsers allow no passkeys at IP addresses, so those pages are also served at
 * `localhost`.
 */
export const ownOriginsOf = (publicBaseUrl: string): readonly [string, ...string[]] => {
  const { origin, hostname } = new URL(publicBaseUrl);
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
  if (!isAddress) return [origin];
  const local = new URL(origin);
  local.hostname = 'localhost';
  return [origin, local.origin];
};

/**
 * Returns true if a request with this `Origin` header may come from our pages. A request without one does not come from
 * a page of another origin.
 */
export const isOwnOrigin = (origin: string | undefined, publicBaseUrl: string): boolean =>
  origin === undefined || ownOriginsOf(publicBaseUrl).includes(origin);

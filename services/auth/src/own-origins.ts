import { isIP } from 'node:net';

/** Returns the origins of our pages. Browsers allow passkeys at no IP address, so those pages open at `localhost` too. */
export const ownOriginsOf = (publicBaseUrl: string): readonly [string, ...string[]] => {
  const { origin, hostname } = new URL(publicBaseUrl);
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
  if (!isAddress) return [origin];
  const local = new URL(origin);
  local.hostname = 'localhost';
  return [origin, local.origin];
};

/** Returns whether a request with this `Origin` header comes from our pages. Without one, it comes from no page of others. */
export const isOwnOrigin = (origin: string | undefined, publicBaseUrl: string): boolean =>
  origin === undefined || ownOriginsOf(publicBaseUrl).includes(origin);

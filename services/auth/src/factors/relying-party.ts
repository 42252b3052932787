import { isIP } from 'node:net';

/** This product from the point of view of passkeys (WebAuthn Level 3 section 4). */
export interface RelyingParty {
  readonly id: string;
  readonly name: string;
  /** Origins of pages that may use its passkeys. */
  readonly origins: readonly string[];
}

/** Returns the relying party of a base URL. Browsers allow no IP address as its id, so that becomes `localhost`. */
export const relyingPartyOf = (publicBaseUrl: string): RelyingParty => {
  const url = new URL(publicBaseUrl);
  const isLocal = url.hostname === 'localhost' || isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0;
  if (!isLocal) return { id: url.hostname, name: 'svc', origins: [url.origin] };
  const local = new URL(url.origin);
  local.hostname = 'localhost';
  return { id: 'localhost', name: 'svc', origins: [url.origin, local.origin] };
};

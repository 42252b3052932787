import { ownOriginsOf } from '../own-origins.ts';

/** The product as a relying party of passkeys (WebAuthn Level 3 section 4). */
export interface RelyingParty {
  readonly id: string;
  readonly name: string;
  /** Origins of pages that may use the product's passkeys. */
  readonly origins: readonly string[];
}

/**
 * Returns the relying party of a base URL. Browsers allow no IP address as its id, so that is replaced by `localhost`.
 */
export const relyingPartyOf = (publicBaseUrl: string): RelyingParty => {
  const origins = ownOriginsOf(publicBaseUrl);
  return { id: new URL(origins.at(-1) ?? publicBaseUrl).hostname, name: 'svc', origins };
};

import { encodeBase64Url } from '../bytes.ts';

const RANDOM_BYTES = 32;

/** Returns 43 characters that carry 256 random bits: a `state` or a code verifier (RFC 7636 section 4.1). */
export const randomText = (): string => encodeBase64Url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));

/** Returns the S256 challenge of a verifier (RFC 7636 section 4.2). */
export const challengeOf = async (codeVerifier: string): Promise<string> =>
  encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))));

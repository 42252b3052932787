import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { AppError } from '../app-error.ts';
import type { Clock } from '../clock.ts';
import type { Presentation } from '../http/binding.ts';

/** Signature algorithms for proofs; must match the authorization server's metadata. */
export const DPOP_ALGORITHMS: ('ES256' | 'EdDSA' | 'Ed25519')[] = ['ES256', 'EdDSA', 'Ed25519'];

/** Maximum difference between a proof's time and ours, in either direction. Allows for transit and clock skew. */
const WINDOW_MS = 60_000;
/** Proofs kept for replay detection. Beyond this limit the oldest are evicted; they are the next to expire anyway. */
const REMEMBERED_MAX = 100_000;
const PROOF_CHARACTERS_MAX = 4_096;

export interface PossessionCheckOptions {
  readonly publicBaseUrl: string;
  readonly clock: Clock;
  readonly rememberedMax?: number;
}

/** A verified token and its presentation. */
export interface Possession {
  readonly token: string;
  readonly keyThumbprint: string | undefined;
  /** If undefined, the token was sent as a bearer credential. */
  readonly presentation: Presentation | undefined;
}

const proofClaims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string(),
});

/**
 * Checks RFC 9449 section 4.3. A bound token requires the DPoP scheme and a fresh proof by its key for this request; an
 * unbound token requires the Bearer scheme. Throws `invalid_token`. Each process accepts a proof once.
 */
export const createPossessionCheck = (options: PossessionCheckOptions): ((possession: Possession) => Promise<void>) => {
  const remember = createReplayMemory(options.rememberedMax ?? REMEMBERED_MAX);
  return async ({ token, keyThumbprint, presentation }) => {
    if (keyThumbprint === undefined && (presentation?.scheme ?? 'Bearer') === 'Bearer') return;
    if (keyThumbprint === undefined || presentation?.scheme !== 'DPoP') throw refused('invalid_token');
    const { proof } = presentation;
    if (proof === undefined || proof.length > PROOF_CHARACTERS_MAX) throw refused('invalid_dpop_proof');
    const nowMs = options.clock().getTime();
    const claims = await readProof(proof, keyThumbprint);
    const isFor =
      claims.htm === presentation.method &&
      plainUrl(claims.htu) === plainUrl(`${options.publicBaseUrl}${presentation.path}`) &&
      claims.ath === hash('sha256', token, 'base64url') &&
      Math.abs(nowMs - claims.iat * 1000) <= WINDOW_MS;
    if (!isFor) throw refused('invalid_dpop_proof');
    const isFirst = remember(hash('sha256', `${keyThumbprint} ${claims.jti}`, 'base64'), nowMs);
    if (!isFirst) throw refused('invalid_dpop_proof');
  };
};

const MESSAGES = {
  invalid_token: 'A token that is bound to a key needs the DPoP scheme, any other token the Bearer scheme.',
  invalid_dpop_proof:
    'The DPoP proof is missing or used, or not for this request, token and key (RFC 9449 section 4.3).',
};

const refused = (error: keyof typeof MESSAGES, cause?: unknown): AppError =>
  new AppError('invalid_token', MESSAGES[error], {
    headers: { 'www-authenticate': `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"` },
    cause,
  });

const readProof = async (proof: string, keyThumbprint: string): Promise<z.infer<typeof proofClaims>> => {
  try {
    // jose rejects a header with a private or symmetric key.
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: DPOP_ALGORITHMS,
      typ: 'dpop+jwt',
    });
    const { jwk } = protectedHeader;
    if (jwk === undefined || (await calculateJwkThumbprint(jwk)) !== keyThumbprint) throw refused('invalid_dpop_proof');
    return proofClaims.parse(payload);
  } catch (error) {
    const isProofFault = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof z.ZodError;
    // WebCrypto throws a DOMException if the header's key is invalid.
    if (isProofFault || error instanceof DOMException) throw refused('invalid_dpop_proof', error);
    throw error;
  }
};

/** Normalizes a URL and drops query and fragment (RFC 9449 section 4.3, RFC 3986 section 6.2). */
const plainUrl = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (url === null) return undefined;
  url.search = '';
  url.hash = '';
  return url.href;
};

/** Returns true for a new key and remembers it while a proof can be fresh. */
const createReplayMemory = (entriesMax: number): ((key: string, nowMs: number) => boolean) => {
  const expiries = new Map<string, number>();
  return (key, nowMs) => {
    // A Map keeps insertion order, so the earliest expiries come first.
    for (const [known, expiresAtMs] of expiries) {
      if (expiresAtMs > nowMs) break;
      expiries.delete(known);
    }
    if (expiries.has(key)) return false;
    const [oldest] = expiries.keys();
    if (expiries.size >= entriesMax && oldest !== undefined) expiries.delete(oldest);
    // A proof may be dated up to one window ahead, and is then fresh for two.
    expiries.set(key, nowMs + 2 * WINDOW_MS);
    return true;
  };
};

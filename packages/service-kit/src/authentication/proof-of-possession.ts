import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { AppError } from '../app-error.ts';
import type { Clock } from '../clock.ts';
import type { Presentation } from '../http/binding.ts';

/** Signature algorithms of proofs; the authorization server announces the same. */
export const DPOP_ALGORITHMS: ('ES256' | 'EdDSA' | 'Ed25519')[] = ['ES256', 'EdDSA', 'Ed25519'];

/** How far a proof's time may be from ours, in either direction: transit, and clocks that differ. */
const WINDOW_MS = 60_000;
/** Proofs that are remembered against replay; beyond it the oldest go, which are the next to be too old anyway. */
const REMEMBERED_MAX = 100_000;
const PROOF_CHARACTERS_MAX = 4_096;

/** What decides whether a token is presented by whom it was issued to. */
export interface PossessionCheckOptions {
  publicBaseUrl: string;
  clock: Clock;
  rememberedMax?: number;
}

/** A verified token, and how it came. */
export interface Possession {
  token: string;
  keyThumbprint: string | undefined;
  /** Undefined: as a bearer credential. */
  presentation: Presentation | undefined;
}

const proofClaims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string(),
});

/**
 * Checks RFC 9449 section 4.3: a bound token wants the scheme DPoP and a fresh proof by its key for this request; one that is
 * not bound wants the scheme Bearer. Throws `invalid_token`. A proof is good once in each process.
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

const refused = (error: string, cause?: unknown): AppError =>
  new AppError('invalid_token', undefined, {
    headers: { 'www-authenticate': `DPoP error="${error}", algs="${DPOP_ALGORITHMS.join(' ')}"` },
    cause,
  });

const readProof = async (proof: string, keyThumbprint: string): Promise<z.infer<typeof proofClaims>> => {
  try {
    // jose refuses a header whose key is private or symmetric.
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: DPOP_ALGORITHMS,
      typ: 'dpop+jwt',
    });
    const { jwk } = protectedHeader;
    if (jwk === undefined || (await calculateJwkThumbprint(jwk)) !== keyThumbprint) throw refused('invalid_dpop_proof');
    return proofClaims.parse(payload);
  } catch (error) {
    const isProofFault = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof z.ZodError;
    // WebCrypto says so where the header's key is none.
    if (isProofFault || error instanceof DOMException) throw refused('invalid_dpop_proof', error);
    throw error;
  }
};

/** Without query and fragment, and in one spelling (RFC 9449 section 4.3, RFC 3986 section 6.2). */
const plainUrl = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (url === null) return undefined;
  url.search = '';
  url.hash = '';
  return url.href;
};

/** Says whether a key is new, and remembers it for as long as a proof can be fresh. */
const createReplayMemory = (entriesMax: number): ((key: string, nowMs: number) => boolean) => {
  const expiries = new Map<string, number>();
  return (key, nowMs) => {
    // A Map keeps the order of insertion, so those that expire first stand first.
    for (const [known, expiresAtMs] of expiries) {
      if (expiresAtMs > nowMs) break;
      expiries.delete(known);
    }
    if (expiries.has(key)) return false;
    const [oldest] = expiries.keys();
    if (expiries.size >= entriesMax && oldest !== undefined) expiries.delete(oldest);
    // A proof may come from our future by one window, and is then fresh for two.
    expiries.set(key, nowMs + 2 * WINDOW_MS);
    return true;
  };
};

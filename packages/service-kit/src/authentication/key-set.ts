import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { z } from 'zod';
import { AppError } from '../app-error.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logging/create-logger.ts';

export interface KeySetOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly timeoutMs?: number;
  /** Age at which the set is refreshed in the background. */
  readonly refreshMs?: number;
  /** Minimum time between two fetches, even if callers present many unknown keys. */
  readonly cooldownMs?: number;
}

/** The issuer's public keys. */
export interface KeySet {
  /**
   * Finds the key that a token names. Throws `invalid_token` if it is unknown, `service_unavailable` if the key set is
   * out of date.
   */
  readonly resolve: (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;
  /** Returns true if the key was in the last key set fetched. */
  readonly has: (keyId: string) => boolean;
}

const TIMEOUT_MS = 3_000;
const REFRESH_MS = 10 * 60_000;
const COOLDOWN_MS = 5_000;
const KEY_SET_BYTES_MAX = 256 * 1024;

const keySetSchema = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(100),
});

interface Loaded {
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly keyIds: ReadonlySet<string>;
  readonly at: number;
}

/** Fetches a JWKS on first use, keeps it while the issuer is down, and refetches it for an unknown key. */
export const createKeySet = (options: KeySetOptions): KeySet => {
  const cooldownMs = options.cooldownMs ?? COOLDOWN_MS;
  let loaded: Loaded | undefined;
  let lastAttempt = { at: Number.NEGATIVE_INFINITY, succeeded: false };
  let pending: Promise<void> | undefined;

  const now = (): number => options.clock().getTime();
  const load = (): Promise<void> => {
    pending ??= fetchKeySet(options)
      .then((set) => {
        loaded = { ...set, at: now() };
        lastAttempt = { at: now(), succeeded: true };
      })
      .catch((error: unknown) => {
        lastAttempt = { at: now(), succeeded: false };
        options.logger?.warn({ err: error, component: 'key-set' }, 'the key set could not be fetched');
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  const isCoolingDown = (): boolean => now() - lastAttempt.at < cooldownMs;
  const loadUnlessJustTried = async (): Promise<void> => {
    if (pending !== undefined || !isCoolingDown()) await load();
  };

  return {
    has: (keyId) => loaded?.keyIds.has(keyId) ?? false,
    resolve: async (header, token) => {
      if (loaded === undefined) await loadUnlessJustTried();
      else if (now() - loaded.at > (options.refreshMs ?? REFRESH_MS) && !isCoolingDown()) void load();
      const found = await find(loaded, header, token);
      if (found !== undefined) return found;
      await loadUnlessJustTried();
      const foundLater = await find(loaded, header, token);
      if (foundLater !== undefined) return foundLater;
      // Without a current key set, an unknown key does not prove that the token is invalid.
      if (!lastAttempt.succeeded) throw new AppError('service_unavailable', 'The signing keys cannot be fetched now.');
      throw new AppError('invalid_token');
    },
  };
};

const find = async (
  loaded: Loaded | undefined,
  header: JWSHeaderParameters,
  token: FlattenedJWSInput,
): Promise<CryptoKey | undefined> => {
  if (loaded === undefined) return undefined;
  try {
    return await loaded.keys(header, token);
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    throw error;
  }
};

const fetchKeySet = async ({ url, timeoutMs = TIMEOUT_MS }: KeySetOptions): Promise<Omit<Loaded, 'at'>> => {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: 'application/json' },
    redirect: 'error',
  });
  if (!response.ok) throw new Error(`the key set request returned status ${response.status}`);
  const text = await response.text();
  if (text.length > KEY_SET_BYTES_MAX) throw new Error('the key set is too large');
  const set = keySetSchema.parse(JSON.parse(text));
  const keyIds = new Set(set.keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid])));
  // The schema has checked the properties of jose's type; jose checks each key that it uses.
  return { keys: createLocalJWKSet(set as JSONWebKeySet), keyIds };
};

import { type Logger, runPeriodically } from '@svc/service-kit';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { MINUTE_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { listSigningKeys } from './queries.ts';
import { type RotateSigningKeysDeps, rotateSigningKeys } from './rotate-signing-keys.ts';
import { openSigningKey, type SigningKey } from './signing-key.ts';

/** A replica that missed a rotation signs with the retired key, which is still published, for at most this long. */
const REFRESH_MS = MINUTE_MS;

/** Keys of this process: the signing one, and those published for verifiers. */
export interface KeyRing {
  readonly active: () => SigningKey;
  /** Every published key. */
  readonly publicKeys: () => JSONWebKeySet;
  /** Finds the published key named by a token, for `jwtVerify`. */
  readonly resolve: JWTVerifyGetKey;
  /** Rotates the keys if due, and reloads them from the database. */
  readonly refresh: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface KeyRingDeps extends RotateSigningKeysDeps {
  readonly database: Executor;
  readonly logger: Logger;
}

interface Loaded {
  readonly active: SigningKey;
  readonly published: JSONWebKeySet;
  readonly resolve: JWTVerifyGetKey;
}

/** Opens the key ring, creating the first keys if there are none, and refreshes it until stopped. */
export const openKeyRing = async (deps: KeyRingDeps): Promise<KeyRing> => {
  await rotateSigningKeys(deps);
  let loaded = await loadKeys(deps);
  const refresh = async (): Promise<void> => {
    await rotateSigningKeys(deps);
    loaded = await loadKeys(deps, loaded);
  };
  const refreshing = runPeriodically({
    name: 'signing keys',
    intervalMs: REFRESH_MS,
    run: refresh,
    logger: deps.logger,
  });
  return {
    active: () => loaded.active,
    publicKeys: () => loaded.published,
    resolve: (header, token) => loaded.resolve(header, token),
    refresh,
    stop: refreshing.stop,
  };
};

const loadKeys = async (deps: KeyRingDeps, before?: Loaded): Promise<Loaded> => {
  const all = await listSigningKeys(deps.database);
  const stored = all.find((key) => key.state === 'active');
  if (stored === undefined) throw new Error('there is no active signing key');
  const active = before?.active.kid === stored.kid ? before.active : openSigningKey(deps.sealer, stored);
  const published = { keys: all.map(({ publicJwk }) => publicJwk) };
  return { active, published, resolve: createLocalJWKSet(published) };
};

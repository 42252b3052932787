import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { routes, serviceOperations } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Sealer } from '@svc/secrets';
import { AppError, type Binding, bind, type Clock, type Logger, runPeriodically } from '@svc/service-kit';
import { calculateJwkThumbprint, createLocalJWKSet, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';
import type { Executor, Transact, Transaction } from './transact.ts';

/** Lists all published keys, the signing one first. */
const listSigningKeys = async (executor: Executor): Promise<StoredSigningKey[]> => {
  const rows = await executor<SnakeKeys<StoredSigningKey>>('signing_keys')
    .select('*')
    .orderByRaw(`CASE state WHEN 'active' THEN 0 WHEN 'next' THEN 1 ELSE 2 END, created_at`);
  return rows.map(camelKeys);
};

/** Serializes rotations of replicas until the transaction ends. */
const lockSigningKeys = async (trx: Transaction): Promise<void> => {
  await trx.raw(`SELECT pg_advisory_xact_lock(hashtext('auth.signing_keys'))`);
};

/** Stores a new key. */
const insertSigningKey = async (trx: Transaction, key: StoredSigningKey): Promise<void> => {
  await trx('signing_keys').insert(snakeKeys({ ...key, publicJwk: JSON.stringify(key.publicJwk) }));
};

/** Changes a key from `next` to `active`. */
const activateSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'next' }).update({ state: 'active', activated_at: now });
};

/** Changes a key from `active` to `retired`. */
const retireSigningKey = async (trx: Transaction, kid: string, now: Date): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'active' }).update({ state: 'retired', retired_at: now });
};

/** Deletes a retired key. */
const deleteSigningKey = async (trx: Transaction, kid: string): Promise<void> => {
  await trx('signing_keys').where({ kid, state: 'retired' }).delete();
};

/**
 * The only signature algorithm. ES256 signs three times as fast as RS256, and every verifier supports it (RFC 7518
 * section 3.4).
 */
export const SIGNING_ALGORITHM = 'ES256';

/**
 * `next`: published but not signing yet, so that verifiers know it in time. `active`: signs. `retired`: published until
 * its last token has expired.
 */
type SigningKeyState = 'next' | 'active' | 'retired';

/** A key, as stored. Its private part is sealed. */
interface StoredSigningKey {
  readonly kid: string;
  readonly state: SigningKeyState;
  readonly publicJwk: JWK;
  readonly sealedPrivateKey: Buffer;
  readonly createdAt: Date;
  readonly activatedAt: Date | null;
  readonly retiredAt: Date | null;
}

/** A key that can sign. */
interface SigningKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateKey: KeyObject;
}

/** Seconds that a retired key stays published: the longest lifetime of a token (12 h) plus an hour of clock drift. */
const RETIRED_KEY_SECONDS = 13 * 3600;

/** Returns true if every token signed by a retired key has expired. */
const isKeyForgettable = (key: StoredSigningKey, now: Date): boolean =>
  key.retiredAt !== null && now.getTime() - key.retiredAt.getTime() > RETIRED_KEY_SECONDS * SECOND_MS;

/** Generates a key in state `next`. Its id is its RFC 7638 thumbprint. */
const generateSigningKey = async (sealer: Sealer, now: Date): Promise<StoredSigningKey> => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  if (kty === undefined || crv === undefined || x === undefined || y === undefined) {
    throw new TypeError('a P-256 key has four public members');
  }
  const kid = await calculateJwkThumbprint({ kty, crv, x, y });
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    kid,
    state: 'next',
    publicJwk: { kty, crv, x, y, kid, alg: SIGNING_ALGORITHM, use: 'sig' },
    sealedPrivateKey: sealer.seal(plain, kid),
    createdAt: now,
    activatedAt: null,
    retiredAt: null,
  };
};

/** Decrypts a stored key. Throws SealBroken if it was sealed with another encryption key. */
const openSigningKey = (sealer: Sealer, stored: StoredSigningKey): SigningKey => {
  const plain = sealer.unseal(stored.sealedPrivateKey, stored.kid);
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' });
  return { kid: stored.kid, publicJwk: stored.publicJwk, privateKey };
};

/** Verifiers fetch the key set at least this often, so a key must be published longer before it signs. */
const PUBLISHED_BEFORE_USE_MS = HOUR_MS;

interface RotateSigningKeysDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly rotationDays: number;
}

/**
 * Ensures one active key, one next key and no obsolete retired keys. Creates them at the first start. Activates the
 * next key when the active one is old or must be replaced. Idempotent, and safe on any replica.
 */
const rotateSigningKeys = async (
  deps: RotateSigningKeysDeps,
  { replaceActiveKid }: { readonly replaceActiveKid?: string } = {},
): Promise<boolean> =>
  await deps.transact(async (trx) => {
    await lockSigningKeys(trx);
    const keys = await listSigningKeys(trx);
    const now = deps.clock();
    const active = keys.find((key) => key.state === 'active');
    const next = keys.find((key) => key.state === 'next');
    const isNextTaken = await replaceActive(trx, { active, next, now, deps, replaceActiveKid });
    if (next === undefined || isNextTaken) await insertSigningKey(trx, await generateSigningKey(deps.sealer, now));
    for (const key of keys) if (isKeyForgettable(key, now)) await deleteSigningKey(trx, key.kid);
    return isNextTaken;
  });

interface Replacement {
  readonly active: StoredSigningKey | undefined;
  readonly next: StoredSigningKey | undefined;
  readonly now: Date;
  readonly deps: RotateSigningKeysDeps;
  readonly replaceActiveKid: string | undefined;
}

/** Returns true if the next key became the active one. */
const replaceActive = async (
  trx: Transaction,
  { active, next, now, deps, replaceActiveKid }: Replacement,
): Promise<boolean> => {
  if (active === undefined) {
    const first = next ?? (await generateSigningKey(deps.sealer, now));
    if (next === undefined) await insertSigningKey(trx, first);
    await activateSigningKey(trx, first.kid, now);
    return next !== undefined;
  }
  const isOld = now.getTime() - (active.activatedAt?.getTime() ?? 0) >= deps.rotationDays * DAY_MS;
  const isNextKnown = next !== undefined && now.getTime() - next.createdAt.getTime() > PUBLISHED_BEFORE_USE_MS;
  const isUnwanted = active.kid === replaceActiveKid;
  if (isUnwanted && !isNextKnown) throw new AppError('signing_key_not_ready');
  if (!(isOld || isUnwanted) || !isNextKnown) return false;
  await retireSigningKey(trx, active.kid, now);
  await activateSigningKey(trx, next.kid, now);
  return true;
};

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

interface KeyRingDeps extends RotateSigningKeysDeps {
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

interface SigningKeyOperatorDeps extends RotateSigningKeysDeps {
  readonly database: Executor;
  readonly keys: KeyRing;
}

/** Binds the operator routes of signing keys. */
export const signingKeyOperatorRoutes = (deps: SigningKeyOperatorDeps): Binding[] => [
  bind(serviceOperations.listSigningKeys, async () => ({ status: 200, body: { data: await listKeys(deps) } })),
  bind(serviceOperations.rotateSigningKeys, async ({ body }) => {
    const rotated = await rotateSigningKeys(deps, { replaceActiveKid: body.active_kid });
    await deps.keys.refresh();
    return { status: 200, body: { rotated, data: await listKeys(deps) } };
  }),
];

const listKeys = async ({ database }: SigningKeyOperatorDeps) => {
  const keys = await listSigningKeys(database);
  return keys.map(({ kid, state, createdAt, activatedAt, retiredAt }) => ({
    kid,
    state,
    created_at: createdAt.toISOString(),
    activated_at: activatedAt?.toISOString() ?? null,
    retired_at: retiredAt?.toISOString() ?? null,
  }));
};

/** Time for which verifiers may cache the key set: much shorter than a key is published before it signs. */
const KEY_SET_SECONDS = 300;

/** Binds the route of the public keys (RFC 7517 section 5). */
export const signingKeyRoutes = (deps: { keys: KeyRing }): Binding[] => [
  bind(routes.getJwks, async () => ({
    status: 200,
    body: deps.keys.publicKeys(),
    headers: { 'cache-control': `public, max-age=${KEY_SET_SECONDS}` },
  })),
];

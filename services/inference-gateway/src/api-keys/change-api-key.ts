import { keyVersionText, type routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { type Act, AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type ApiKey, apiKeyText } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { type KeyScope, keyScopeOf, lockApiKey, updateApiKeySecret } from './queries.ts';

/**
 * Changes a key within a scope and invalidates the cached copies of all replicas within a second. `write` stores the
 * result of `change`. Throws `not_found`.
 */
export const changeApiKey = async (
  deps: ApiKeyDeps,
  found: KeyScope & { readonly id: string },
  {
    act,
    change,
    write,
  }: {
    readonly act: Act;
    readonly change: (key: ApiKey) => ApiKey;
    readonly write: (trx: Knex.Transaction, key: ApiKey) => Promise<void>;
  },
): Promise<ApiKey> => {
  const revocation = `key_version.${found.id}`;
  const superseded = (key: ApiKey) => ({ revoked_through: keyVersionText(key.version - 1) });
  const changed = await withOutbox(deps, async (trx) => {
    const key = await lockApiKey(trx, found);
    if (key === undefined) throw new AppError('not_found');
    const next = { ...change(key), version: key.version + 1 };
    await write(trx, next);
    await recordAct(trx, act, { type: 'api_key', id: next.id, name: next.name });
    await appendToOutbox(trx, { revocation: { key: revocation, value: superseded(next) } });
    return next;
  });
  deps.revocations.remember(revocation, superseded(changed));
  return changed;
};

const SECOND_MS = 1_000;
const OVERLAP_SECONDS_DEFAULT = 86_400;

/** Replaces the secret of a key. The current secret stays valid for the overlap; an older one expires immediately. */
export const rotateApiKey = async (
  deps: ApiKeyDeps,
  { act, body, params, caller }: RequestContext<typeof routes.rotateKey>,
): Promise<Reply> => {
  const overlapSeconds = body?.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
  const secretCreatedAt = new Date(deps.clock());
  const previousExpiresAt =
    overlapSeconds === 0 ? null : new Date(secretCreatedAt.getTime() + overlapSeconds * SECOND_MS);
  const text = apiKeyText.generate();
  const secret = {
    prefix: apiKeyText.shown(text),
    secretCreatedAt,
    secretCreatedBy: caller.personId,
    previousExpiresAt,
  };
  const found = { id: params.key_id, ...keyScopeOf(caller) };
  const { id, prefix } = await changeApiKey(deps, found, {
    act,
    change: (key) => ({ ...key, ...secret }),
    write: (trx, key) => updateApiKeySecret(trx, key, deps.digests.of(text)),
  });
  return {
    status: 200,
    body: { id, key: text, prefix, previous_expires_at: previousExpiresAt?.toISOString() ?? null },
  };
};

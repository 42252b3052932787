import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import { apiKeyText } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { changeApiKey } from './change-api-key.ts';
import { keyScopeOf, updateApiKeySecret } from './queries.ts';

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

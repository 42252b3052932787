import { inferenceGatewayEvents, newId, type routes } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError, invalidField, type Reply, type RequestContext } from '@svc/service-kit';
import { type ApiKey, apiKeyText, showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { insertApiKey } from './queries.ts';
import { readExpiry } from './read-expiry.ts';

/** Limit of keys per account, without deleted ones. The list of keys has no pages. */
const KEYS_MAX = 100;

/** Creates a key and returns its secret, which is shown only once. Throws `invalid_token` if the session lost access. */
export const createApiKey = async (
  deps: ApiKeyDeps,
  { body, caller }: RequestContext<typeof routes.createKey>,
): Promise<Reply> => {
  const nowMs = deps.clock();
  const text = apiKeyText.generate();
  const key: ApiKey = {
    id: newId('key', nowMs),
    userId: caller.userId,
    name: body.name,
    prefix: apiKeyText.shown(text),
    expiresAt: readExpiry(body.expires_at ?? null, nowMs),
    requestsPerMinute: body.requests_per_minute ?? null,
    tokensPerMinute: body.tokens_per_minute ?? null,
    monthlyLimitMicros: body.monthly_limit_micros ?? null,
    models: body.models ?? null,
    active: body.active ?? true,
    createdAt: new Date(nowMs),
    secretCreatedAt: new Date(nowMs),
    lastUsedAt: null,
    sessionId: caller.sessionId,
    previousExpiresAt: null,
    version: 1,
  };
  const outcome = await withOutbox(deps, async (trx) => {
    const inserted = await insertApiKey(trx, { key, hash: deps.digests.of(text), keysMax: KEYS_MAX });
    if (inserted === 'inserted') await appendToOutbox(trx, createdFact(key));
    return inserted;
  });
  if (outcome === 'session_ended') throw new AppError('invalid_token');
  if (outcome === 'too_many') {
    throw invalidField(['body'], 'value_error', `Value error, an account can have at most ${KEYS_MAX} keys`);
  }
  return { status: 201, body: { ...showApiKey(key, { spentMicros: 0, nowMs }), key: text } };
};

/** The owner gets a mail and an account event about it. */
const createdFact = ({ id, userId, name, prefix, createdAt }: ApiKey) => ({
  subject: inferenceGatewayEvents.keyCreated.subject,
  aggregate: `key:${id}`,
  version: 1,
  data: { svc_user_id: userId, key_id: id, name, prefix, created_at: createdAt.toISOString() },
});

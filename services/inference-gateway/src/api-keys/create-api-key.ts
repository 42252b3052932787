import { inferenceGatewayEvents, newId, type routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError, invalidField, type Reply, type RequestContext } from '@svc/service-kit';
import { lockAccess } from './access-queries.ts';
import { type ApiKey, apiKeyText, showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { countApiKeys, insertApiKey } from './queries.ts';

/** Parses the `expires_at` of a request. Throws the contract's 422 if it is not in the future. */
export const readExpiry = (value: string | null, nowMs: number): Date | null => {
  if (value === null) return null;
  const expiresAt = new Date(value);
  if (expiresAt.getTime() > nowMs) return expiresAt;
  throw invalidField(['body', 'expires_at'], 'value_error', 'Value error, must be in the future');
};

/** Limit of keys per account, without deleted ones. The list of keys has no pages. */
const KEYS_MAX = 100;

/**
 * Creates a key and returns its secret, which is shown only once. Throws `invalid_token` if the session or the membership lost
 * access.
 */
export const createApiKey = async (
  deps: ApiKeyDeps,
  context: RequestContext<typeof routes.createKey>,
): Promise<Reply> => {
  const { act, caller } = context;
  const text = apiKeyText.generate();
  const key = toApiKey(context, text, deps.clock());
  const membershipId = caller.kind === 'console_session' ? (caller.organization?.membershipId ?? null) : null;
  await withOutbox(deps, async (trx) => {
    const creation = { userId: key.userId, createdBy: key.createdBy, sessionId: caller.sessionId, membershipId };
    if ((await lockAccess(trx, creation)) === 'ended') throw new AppError('invalid_token');
    if ((await countApiKeys(trx, key.userId)) >= KEYS_MAX) {
      throw invalidField(['body'], 'value_error', `Value error, an account can have at most ${KEYS_MAX} keys`);
    }
    await insertApiKey(trx, key, deps.digests.of(text));
    await recordAct(trx, act, { type: 'api_key', id: key.id, name: key.name });
    await appendToOutbox(trx, createdFact(key));
  });
  const names = await deps.creatorNames([key.createdBy], context);
  const creatorName = names.get(key.createdBy) ?? null;
  const shown = showApiKey(key, { spentMicros: 0, creatorName, nowMs: key.createdAt.getTime() });
  return { status: 201, body: { ...shown, key: text } };
};

const toApiKey = ({ body, caller }: RequestContext<typeof routes.createKey>, text: string, nowMs: number): ApiKey => ({
  id: newId('key', nowMs),
  userId: caller.userId,
  createdBy: caller.personId,
  creatorLeft: false,
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
  secretCreatedBy: caller.personId,
  lastUsedAt: null,
  sessionId: caller.sessionId,
  previousExpiresAt: null,
  version: 1,
});

/** The owner gets a mail and an account event about it. */
const createdFact = ({ id, userId, name, prefix, createdAt }: ApiKey) => ({
  subject: inferenceGatewayEvents.keyCreated.subject,
  aggregate: `key:${id}`,
  version: 1,
  data: { svc_user_id: userId, key_id: id, name, prefix, created_at: createdAt.toISOString() },
});

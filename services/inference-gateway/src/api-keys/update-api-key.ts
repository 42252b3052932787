import type { routes } from '@svc/contracts';
import { type Reply, type RequestContext, requireRole } from '@svc/service-kit';
import type { ApiKeySettings } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { changeApiKey } from './change-api-key.ts';
import { describeKey } from './describe-keys.ts';
import { keyScopeOf } from './key-scope.ts';
import { updateApiKey as write } from './queries.ts';
import { readExpiry } from './read-expiry.ts';

type Context = RequestContext<typeof routes.updateKey>;

/**
 * Changes the settings of a key. Absent fields stay as they are. Throws `role_not_allowed` if the caller may not keep the key
 * of a member who has left.
 */
export const updateApiKey = async (deps: ApiKeyDeps, context: Context): Promise<Reply> => {
  const { act, body, params, caller } = context;
  if (body.creator_left !== undefined && caller.kind === 'console_session') requireRole(caller.organization, 'admin');
  const settings = readSettings(body, deps.clock());
  const found = { id: params.key_id, ...keyScopeOf(caller) };
  const key = await changeApiKey(deps, found, { act, change: (known) => ({ ...known, ...settings }), write });
  return { status: 200, body: await describeKey(deps, context, key) };
};

const readSettings = (body: Context['body'], nowMs: number): Partial<ApiKeySettings> => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.expires_at === undefined ? {} : { expiresAt: readExpiry(body.expires_at, nowMs) }),
  ...(body.requests_per_minute === undefined ? {} : { requestsPerMinute: body.requests_per_minute }),
  ...(body.tokens_per_minute === undefined ? {} : { tokensPerMinute: body.tokens_per_minute }),
  ...(body.monthly_limit_micros === undefined ? {} : { monthlyLimitMicros: body.monthly_limit_micros }),
  ...(body.models === undefined ? {} : { models: body.models }),
  ...(body.active === undefined ? {} : { active: body.active }),
  ...(body.creator_left === undefined ? {} : { creatorLeft: body.creator_left }),
});

import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import { type ApiKeySettings, showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { changeApiKey } from './change-api-key.ts';
import { updateApiKey as write } from './queries.ts';
import { readExpiry } from './read-expiry.ts';
import { readSpending } from './read-spending.ts';

type Context = RequestContext<typeof routes.updateKey>;

/** Changes the settings of a key. Absent fields stay as they are. */
export const updateApiKey = async (deps: ApiKeyDeps, context: Context): Promise<Reply> => {
  const { body, params, caller } = context;
  const nowMs = deps.clock();
  const settings = readSettings(body, nowMs);
  const owned = { id: params.key_id, userId: caller.userId };
  const key = await changeApiKey(deps, owned, { change: (known) => ({ ...known, ...settings }), write });
  const [spentMicros = null] = (await readSpending(deps, context, [key])) ?? [];
  return { status: 200, body: showApiKey(key, { spentMicros, nowMs }) };
};

const readSettings = (body: Context['body'], nowMs: number): Partial<ApiKeySettings> => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.expires_at === undefined ? {} : { expiresAt: readExpiry(body.expires_at, nowMs) }),
  ...(body.requests_per_minute === undefined ? {} : { requestsPerMinute: body.requests_per_minute }),
  ...(body.tokens_per_minute === undefined ? {} : { tokensPerMinute: body.tokens_per_minute }),
  ...(body.monthly_limit_micros === undefined ? {} : { monthlyLimitMicros: body.monthly_limit_micros }),
  ...(body.models === undefined ? {} : { models: body.models }),
  ...(body.active === undefined ? {} : { active: body.active }),
});

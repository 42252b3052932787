import { internalRoutes, routes } from '@svc/contracts';
import { listActs, recordAct } from '@svc/database';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError, type Binding, bind, type Reply, type RequestContext, requireRole } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type ApiKey, type ApiKeySettings, showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { changeApiKey, rotateApiKey } from './change-api-key.ts';
import { createApiKey, readExpiry } from './create-api-key.ts';
import { describeKey, describeKeys } from './describe-keys.ts';
import {
  findApiKey,
  findKeyName,
  isInScope,
  keyScopeOf,
  listApiKeys as listKeys,
  lockApiKey,
  updateApiKeyDeletedAt,
  updateApiKey as write,
} from './queries.ts';

type Context = RequestContext<typeof routes.updateKey>;

/**
 * Changes the settings of a key. Absent fields stay as they are. Throws `role_not_allowed` if the caller may not keep the key
 * of a member who has left.
 */
const updateApiKey = async (deps: ApiKeyDeps, context: Context): Promise<Reply> => {
  const { act, body, params, caller } = context;
  const settings = readSettings(body, deps.clock());
  const found = { id: params.key_id, ...keyScopeOf(caller) };
  const change = (known: ApiKey): ApiKey => {
    // Only of a key that the caller may see: other people's keys are 404.
    if (body.creator_left !== undefined && caller.kind === 'console_session') requireRole(caller.organization, 'admin');
    return { ...known, ...settings };
  };
  const key = await changeApiKey(deps, found, { act, change, write });
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

/** Deletes a key. The revocation, committed in the same transaction, reaches every other process within a second. */
const deleteApiKey = async (
  deps: ApiKeyDeps,
  { act, params, caller }: RequestContext<typeof routes.deleteKey>,
): Promise<Reply> => {
  const id = params.key_id;
  const revocation = `key.${id}`;
  await withOutbox(deps, async (trx) => {
    const key = await lockApiKey(trx, { id, ...keyScopeOf(caller) });
    if (key === undefined) throw new AppError('not_found');
    await updateApiKeyDeletedAt(trx, id, new Date(deps.clock()));
    await recordAct(trx, act, { type: 'api_key', id, name: key.name });
    await appendToOutbox(trx, { revocation: { key: revocation } });
  });
  deps.revocations.remember(revocation);
  return { status: 204 };
};

/** Lists the keys that the caller may see and that are not deleted, newest first. */
const listApiKeys = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.listKeys>): Promise<Reply> => {
  const keys = await listKeys(deps.database, keyScopeOf(context.caller));
  return { status: 200, body: { data: await describeKeys(deps, context, keys) } };
};

/** Returns a key that the caller may see and that is not deleted. Throws `not_found`. */
const getApiKey = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.getKey>): Promise<Reply> => {
  const key = await findApiKey(deps.database, context.params.key_id);
  if (key === undefined || !isInScope(keyScopeOf(context.caller), key)) throw new AppError('not_found');
  return { status: 200, body: await describeKey(deps, context, key) };
};

/** Returns the key that authenticated the request, with the available balance of its wallet. */
const getOwnKey = async (deps: ApiKeyDeps, context: RequestContext<typeof routes.getOwnKey>): Promise<Reply> => {
  const { caller, requestId } = context;
  const [key, spending, names] = await Promise.all([
    findApiKey(deps.database, caller.keyId),
    deps.billing.keySpending([caller.keyId], { userId: caller.userId, requestId }),
    deps.creatorNames(caller.creatorId === undefined ? [] : [caller.creatorId], context),
  ]);
  if (key === undefined) throw new AppError('invalid_api_key');
  const [spentMicros = 0] = spending.spent_this_month_micros;
  const creatorName = names.get(key.createdBy) ?? null;
  const shown = showApiKey(key, { spentMicros, creatorName, nowMs: deps.clock() });
  return { status: 200, body: { ...shown, wallet: spending.wallet } };
};

/** Binds the management of API keys. */
export const apiKeyRoutes = (deps: ApiKeyDeps): readonly Binding[] => [
  bind(routes.createKey, (context) => createApiKey(deps, context)),
  bind(routes.listKeys, (context) => listApiKeys(deps, context)),
  bind(routes.getKey, (context) => getApiKey(deps, context)),
  bind(routes.updateKey, (context) => updateApiKey(deps, context)),
  bind(routes.rotateKey, (context) => rotateApiKey(deps, context)),
  bind(routes.getOwnKey, (context) => getOwnKey(deps, context)),
  bind(routes.deleteKey, (context) => deleteApiKey(deps, context)),
];

/** Binds the internal routes of API keys, and the one on which auth reads the acts of an organization. */
export const apiKeyInternalRoutes = ({ database }: { readonly database: Knex }): readonly Binding[] => [
  bind(internalRoutes.readKeyName, async ({ params: { key_id: id, svc_user_id: userId } }) => ({
    status: 200,
    body: { name: (await findKeyName(database, { id, userId })) ?? null },
  })),
  bind(internalRoutes.listGatewayActs, async ({ params, query }) => ({
    status: 200,
    body: { data: await listActs(database, params.svc_user_id, query) },
  })),
];

import { type FoundManagementKey, internalRoutes, routes } from '@svc/contracts';
import {
  AppError,
  type Binding,
  bind,
  type Clock,
  digestManagementKey,
  type ManagementKeyCaller,
  managementKeyText,
  toManagementKeyCaller,
} from '@svc/service-kit';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { type CreateManagementKeyDeps, createManagementKey } from './create-management-key.ts';
import { deleteManagementKey } from './end-management-keys.ts';
import {
  findManagementKeysByDigest,
  listManagementKeysOfUser,
  markManagementKeysUsed,
  toFoundManagementKey,
  toManagementKeyJson,
} from './management-key.ts';

interface FindManagementKeysDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly isVerificationRequired: boolean;
}

/** Finds keys by their digests, in that order, and records their use, at most once a minute for each. */
const findManagementKeys = async (
  deps: FindManagementKeysDeps,
  digests: readonly Buffer[],
): Promise<(FoundManagementKey | null)[]> => {
  const now = deps.clock();
  const unlessSince = later(now, -MINUTE_MS);
  const found = await findManagementKeysByDigest(deps.database, digests, now);
  const unmarked = found.flatMap((key) =>
    key !== undefined && (key.lastUsedAt === null || key.lastUsedAt < unlessSince) ? [key.id] : [],
  );
  if (unmarked.length > 0) await markManagementKeysUsed(deps.database, unmarked, { now, unlessSince });
  return found.map((key) => (key === undefined ? null : toFoundManagementKey(key, deps)));
};

/** Authenticates a management key. Reads its table, so that it refuses a deleted one at once. Throws `invalid_token`. */
export const authenticateManagementKey = async (
  deps: FindManagementKeysDeps,
  text: string,
): Promise<ManagementKeyCaller> => {
  if (!managementKeyText.isWellFormed(text)) throw new AppError('invalid_token');
  const [found] = await findManagementKeys(deps, [digestManagementKey(text)]);
  if (found == null) throw new AppError('invalid_token');
  return toManagementKeyCaller(found);
};

/** Binds the routes of management keys. */
export const managementKeyRoutes = (deps: CreateManagementKeyDeps & FindManagementKeysDeps): Binding[] => [
  bind(routes.createManagementKey, async ({ body, caller, act }) => {
    const { name, scopes, expires_at: expiresAt } = body;
    const { userId, personId: createdBy, sessionId } = caller;
    const input = { userId, createdBy, sessionId, name, scopes, expiresAt: expiresAt ?? null };
    const { key, text } = await createManagementKey(deps, input, act);
    return { status: 201, body: { ...toManagementKeyJson(key), key: text } };
  }),
  bind(routes.listManagementKeys, async ({ caller }) => {
    const keys = await listManagementKeysOfUser(deps.database, caller.userId);
    return { status: 200, body: { data: keys.map(toManagementKeyJson) } };
  }),
  bind(routes.deleteManagementKey, async ({ params, caller, act }) => {
    await deleteManagementKey(deps, { userId: caller.userId, id: params.management_key_id, act });
    return { status: 204 };
  }),
];

/** Binds the look-up by other services. */
export const managementKeyInternalRoutes = (deps: FindManagementKeysDeps): Binding[] => [
  bind(internalRoutes.findManagementKeys, async ({ body }) => ({
    status: 200,
    body: {
      data: await findManagementKeys(
        deps,
        body.digests.map((digest) => Buffer.from(digest, 'hex')),
      ),
    },
  })),
];

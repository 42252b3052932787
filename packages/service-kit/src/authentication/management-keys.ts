import { hash } from 'node:crypto';
import { type FoundManagementKey, internalRoutes, MANAGEMENT_KEY_LOOKUPS_MAX } from '@svc/contracts';
import { AppError } from '../app-error.ts';
import { batchCalls } from '../batching/batch-calls.ts';
import type { Clock } from '../clock.ts';
import type { InternalClient } from '../create-internal-client.ts';
import type { Authenticate, ManagementKeyCaller } from '../http/binding.ts';
import { createKeyCache } from './key-cache.ts';
import { createKeyText } from './key-text.ts';
import type { RevocationView } from './revocation-view.ts';

/** Text of management keys. */
export const managementKeyText = createKeyText('svc_mk_');

const WAITING_MAX = 10_000;

export interface ManagementKeyAuthenticatorOptions {
  /** Client of the internal routes of auth. */
  readonly auth: Pick<InternalClient, 'call'>;
  readonly revocations: RevocationView;
  readonly clock: Clock;
}

/**
 * Creates the authenticator of management keys, which asks auth and keeps its answer for a minute. Throws `invalid_token`
 * for a key that is unknown, expired or deleted, and `service_unavailable` if auth does not respond.
 */
export const createManagementKeyAuthenticator = ({
  auth,
  revocations,
  clock,
}: ManagementKeyAuthenticatorOptions): Authenticate<ManagementKeyCaller> => {
  const lookUp = batchCalls({
    callsMax: MANAGEMENT_KEY_LOOKUPS_MAX,
    waitingMax: WAITING_MAX,
    run: async (texts: readonly string[]) => {
      const digests = texts.map((text) => digestManagementKey(text).toString('hex'));
      return (await auth.call(internalRoutes.findManagementKeys, { body: { digests } })).body.data;
    },
  });
  const find = createKeyCache<FoundManagementKey>({
    find: async (text) => (await lookUp(text)) ?? undefined,
    clock: () => clock().getTime(),
  });
  return async (text) => {
    const found = managementKeyText.isWellFormed(text) ? await find(text) : undefined;
    if (found === undefined) throw new AppError('invalid_token');
    const caller = toManagementKeyCaller(found);
    const credential = { managementKeyId: caller.keyId, userId: caller.userId, keySessionId: caller.sessionId };
    const refreshing = revocations.refreshIfStale(credential);
    if (refreshing !== undefined) await refreshing;
    if (isExpired(caller, clock) || revocations.isRevoked(credential)) throw new AppError('invalid_token');
    return caller;
  };
};

/** Returns the digest under which auth stores a management key. Its 200 random bits need no pepper. */
export const digestManagementKey = (text: string): Buffer => hash('sha256', text, 'buffer');

export const toManagementKeyCaller = (found: FoundManagementKey): ManagementKeyCaller => ({
  kind: 'management_key',
  keyId: found.id,
  userId: found.svc_user_id,
  personId: found.created_by,
  sessionId: found.session_id,
  accountType: found.account_type,
  isEmailUnverified: found.is_email_unverified,
  scopes: new Set(found.scopes),
  expiresAt: found.expires_at === null ? null : new Date(found.expires_at),
});

const isExpired = ({ expiresAt }: ManagementKeyCaller, clock: Clock): boolean =>
  expiresAt !== null && expiresAt <= clock();

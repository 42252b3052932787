import type { FoundManagementKey, ManagementKeyJson, ManagementScope } from '@svc/contracts';

/** A management key, as stored without its digest. */
export interface ManagementKeyRecord {
  readonly id: string;
  readonly userId: string;
  /** Person who created the key. */
  readonly createdBy: string;
  /** Session that created the key. */
  readonly sessionId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly ManagementScope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export const toManagementKeyJson = (key: ManagementKeyRecord): ManagementKeyJson => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: [...key.scopes],
  expires_at: key.expiresAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});

/** A management key with what its uses need to know of the account. */
export interface UsedManagementKey extends ManagementKeyRecord {
  readonly accountType: 'personal' | 'business';
  readonly emailVerifiedAt: Date | null;
}

export const toFoundManagementKey = (
  key: UsedManagementKey,
  { isVerificationRequired }: { readonly isVerificationRequired: boolean },
): FoundManagementKey => ({
  id: key.id,
  svc_user_id: key.userId,
  created_by: key.createdBy,
  session_id: key.sessionId,
  account_type: key.accountType,
  is_email_unverified: isVerificationRequired && key.emailVerifiedAt === null,
  scopes: [...key.scopes],
  expires_at: key.expiresAt?.toISOString() ?? null,
});

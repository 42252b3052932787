import { hash } from 'node:crypto';
import {
  idTimeOf,
  isMetadataUrl,
  keyVersionText,
  LOST_PREFIX,
  LOST_TOKENS_KEY,
  REVOCATION_TTL_SECONDS,
  revokedThroughSchema,
} from '@svc/contracts';
import type { Clock } from '@svc/service-kit';

/**
 * Returns the key of the range that revokes the grants of an app. Keys of NATS hold few characters, so an address of a
 * metadata document is hashed.
 */
export const appRevocationKey = (clientId: string): string =>
  `app.${isMetadataUrl(clientId) ? `url_${hash('sha256', clientId, 'base64url')}` : clientId}`;

const TTL_MS = REVOCATION_TTL_SECONDS * 1000;
/** Keys that need no value. */
const SINGLE = /^(grant|session|key|management_key|verified)\../;
const RANGE = /^(app|account|keys|key_version|lost|member)\../;

/** Ids of a credential. A revocation of any of them revokes the credential. */
export interface RevocationSubject {
  readonly grantId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly userId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly managementKeyId?: string | undefined;
  readonly membershipId?: string | undefined;
  /** Session that created the API key or management key; null for a key older than this record. */
  readonly keySessionId?: string | null | undefined;
}

/** A membership at one version. */
export interface MembershipVersion {
  readonly membershipId: string;
  readonly version: number;
}

export interface RevocationView {
  /** Returns true if the grant, session or key is revoked. */
  readonly isRevoked: (subject: RevocationSubject) => boolean;
  /** Returns true if the API key has changed since this version of it. */
  readonly isSuperseded: (key: { readonly keyId: string; readonly version: number }) => boolean;
  /** Returns true if the membership has changed since this version of it. */
  readonly isMembershipSuperseded: (membership: MembershipVersion) => boolean;
  /** Returns true if the user has confirmed an address within the life of a token. */
  readonly isVerified: (userId: string) => boolean;
  /** Returns true if nothing proves that revocations of the last two seconds have arrived. Known ones hold in any case. */
  readonly isStale: () => boolean;
  /**
   * If the view is stale, asks the services that record revocations about this credential; returns undefined otherwise.
   * Never rejects: without an answer the known revocations hold, and a metric counts the credential as unchecked.
   */
  readonly refreshIfStale: (subject: RevocationSubject) => Promise<void> | undefined;
  /** Adds a revocation that this process has committed, before it arrives through NATS. */
  readonly remember: (key: string, value?: { readonly revoked_through: string }) => void;
  readonly stop: () => Promise<void>;
}

interface Range {
  readonly revokedThrough: string;
  readonly expiresAtMs: number;
}

/** Entries of the bucket, kept for the longest life of a token. */
export interface RevocationEntries {
  readonly isRevoked: (subject: RevocationSubject) => boolean;
  readonly isSuperseded: (key: { readonly keyId: string; readonly version: number }) => boolean;
  readonly isMembershipSuperseded: (membership: MembershipVersion) => boolean;
  readonly isVerified: (userId: string) => boolean;
  /** Adds or extends an entry with its stored text. Returns false and revokes nothing if it breaks the contract. */
  readonly add: (key: string, value: string, createdMs: number) => boolean;
  /** Removes expired entries and returns the number of the others. */
  readonly expire: () => number;
}

export const createEntries = (clock: Clock): RevocationEntries => {
  /** Expiry of each key without a value. Small integers, counted from here, need no memory besides the map. */
  const startMs = clock().getTime();
  const single = new Map<string, number>();
  const ranges = new Map<string, Range>();
  /** Expiry of each range of forgotten sessions and grants. There are few. */
  const lost = new Map<string, number>();
  const has = (key: string): boolean => {
    const expiresMs = single.get(key);
    return expiresMs !== undefined && startMs + expiresMs > clock().getTime();
  };
  const findRange = (key: string): Range | undefined => {
    const range = ranges.get(key);
    return range !== undefined && range.expiresAtMs > clock().getTime() ? range : undefined;
  };
  const isThrough = (key: string, id: string | undefined) => {
    const range = id === undefined ? undefined : findRange(key);
    return range !== undefined && id !== undefined && id <= range.revokedThrough;
  };
  const isLost = (id: string): boolean => {
    const time = idTimeOf(id);
    for (const [range, expiresAtMs] of lost) {
      const [from = '', through = ''] = range.split('-');
      if (from <= time && time <= through && expiresAtMs > clock().getTime()) return true;
    }
    return false;
  };
  const isKeyThrough = (key: string, sessionId: string | null) =>
    sessionId === null ? findRange(key) !== undefined : isThrough(key, sessionId);
  return {
    isRevoked({ grantId, sessionId, clientId, userId, keyId, managementKeyId, keySessionId }) {
      if (lost.size > 0 && [grantId, sessionId].some((id) => id !== undefined && isLost(id))) return true;
      if (grantId !== undefined && has(`grant.${grantId}`)) return true;
      if (sessionId !== undefined && has(`session.${sessionId}`)) return true;
      if (keyId !== undefined && has(`key.${keyId}`)) return true;
      if (managementKeyId !== undefined && has(`management_key.${managementKeyId}`)) return true;
      if (userId !== undefined && keySessionId !== undefined && isKeyThrough(`keys.${userId}`, keySessionId))
        return true;
      if (clientId !== undefined && isThrough(appRevocationKey(clientId), grantId)) return true;
      return userId !== undefined && isThrough(`account.${userId}`, sessionId);
    },
    isSuperseded: ({ keyId, version }) => isThrough(`key_version.${keyId}`, keyVersionText(version)),
    isMembershipSuperseded: ({ membershipId, version }) => isThrough(`member.${membershipId}`, keyVersionText(version)),
    isVerified: (userId) => has(`verified.${userId}`),
    add(key, value, createdMs) {
      const revokedThrough = SINGLE.test(key) ? undefined : revokedThroughOf(key, value);
      if (revokedThrough === null) return false;
      const expiresAtMs = createdMs + TTL_MS;
      if (expiresAtMs <= clock().getTime()) return true;
      // Entries arrive in any order, so neither range nor life of an entry shrinks.
      if (revokedThrough === undefined) {
        single.set(key, Math.max(expiresAtMs - startMs, single.get(key) ?? 0));
      } else if (key.startsWith(LOST_PREFIX)) {
        lost.set(revokedThrough, Math.max(expiresAtMs, lost.get(revokedThrough) ?? 0));
      } else {
        const known = ranges.get(key);
        ranges.set(key, {
          revokedThrough: greatest(revokedThrough, known?.revokedThrough),
          expiresAtMs: Math.max(expiresAtMs, known?.expiresAtMs ?? 0),
        });
      }
      return true;
    },
    expire() {
      const now = clock().getTime();
      for (const [key, expiresMs] of single) if (startMs + expiresMs <= now) single.delete(key);
      for (const [key, range] of ranges) if (range.expiresAtMs <= now) ranges.delete(key);
      for (const [range, expiresAtMs] of lost) if (expiresAtMs <= now) lost.delete(range);
      return single.size + ranges.size + lost.size;
    },
  };
};

/** Returns the keys of all entries that could concern a credential. */
export const keysOf = (subject: RevocationSubject): string[] => {
  const { grantId, sessionId, clientId, userId, keyId, managementKeyId, membershipId, keySessionId } = subject;
  return [
    ...(grantId === undefined ? [] : [`grant.${grantId}`]),
    ...(clientId === undefined ? [] : [appRevocationKey(clientId)]),
    ...(sessionId === undefined ? [] : [`session.${sessionId}`]),
    ...(keyId === undefined ? [] : [`key.${keyId}`, `key_version.${keyId}`]),
    ...(membershipId === undefined ? [] : [`member.${membershipId}`]),
    ...(managementKeyId === undefined ? [] : [`management_key.${managementKeyId}`]),
    ...(userId === undefined || keySessionId === undefined ? [] : [`keys.${userId}`]),
    ...(grantId === undefined && sessionId === undefined ? [] : [LOST_TOKENS_KEY]),
    ...(userId === undefined || sessionId === undefined ? [] : [`account.${userId}`, `verified.${userId}`]),
  ];
};

/** Returns the end of a range, or null if the entry breaks the contract. */
const revokedThroughOf = (key: string, value: string): string | null => {
  if (!RANGE.test(key)) return null;
  try {
    return revokedThroughSchema.parse(JSON.parse(value)).revoked_through;
  } catch {
    return null;
  }
};

const greatest = (a: string, b: string | undefined): string => (b !== undefined && b > a ? b : a);

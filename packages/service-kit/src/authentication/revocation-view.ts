/** Properties of a credential that are checked at every use. Each given property is looked up. */
export interface RevocationQuery {
  readonly grantId?: string;
  readonly sessionId?: string;
  readonly clientId?: string;
  readonly userId?: string;
  readonly keyId?: string;
  readonly managementKeyId?: string;
  readonly membershipId?: string;
  /** Session that created the API key or management key; null for keys created before sessions were recorded. */
  readonly keySessionId?: string | null;
}

/** In-memory view of the revocations known to a service. */
export interface RevocationView {
  /** If the view may lack recent revocations, asks about this credential; returns undefined otherwise. Never rejects. */
  readonly refreshIfStale: (query: RevocationQuery) => Promise<void> | undefined;
  readonly isRevoked: (query: RevocationQuery) => boolean;
  /** Returns true if the membership has changed since this version of it. */
  readonly isMembershipSuperseded?: (membership: {
    readonly membershipId: string;
    readonly version: number;
  }) => boolean;
  /** Returns true if the user confirmed an address recently, perhaps after a token that denies it was signed. */
  readonly isVerified?: (userId: string) => boolean;
}

/** What is asked of a credential at every use. Whatever is given is looked up. */
export interface RevocationQuery {
  grantId?: string;
  sessionId?: string;
  clientId?: string;
  userId?: string;
  keyId?: string;
  /** Session that created the API key; null for a key older than this record. */
  keySessionId?: string | null;
}

/** The revocations that a service knows of, answered from memory. */
export interface RevocationView {
  isRevoked: (query: RevocationQuery) => boolean;
}

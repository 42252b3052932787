/** TLS sessions by destination. Resuming one saves a handshake message and a signature. */
export interface TlsSessions {
  readonly find: (key: string) => Buffer | undefined;
  readonly remember: (key: string, session: Buffer) => void;
}

/** Time from the verification of a certificate to the next. */
const SESSION_MS_MAX = 300_000;
const SESSIONS_MAX = 1_000;

/** Keeps the newest session of each destination for at most five minutes. */
export const createTlsSessions = (nowMs: () => number): TlsSessions => {
  const sessions = new Map<string, { session: Buffer; endsAtMs: number }>();
  return {
    find(key) {
      const found = sessions.get(key);
      if (found === undefined || found.endsAtMs > nowMs()) return found?.session;
      sessions.delete(key);
      return undefined;
    },
    remember(key, session) {
      // A session that resumes an earlier one ends with it, as the certificate was verified for that one.
      const endsAtMs = Math.min(sessions.get(key)?.endsAtMs ?? Number.POSITIVE_INFINITY, nowMs() + SESSION_MS_MAX);
      sessions.delete(key);
      sessions.set(key, { session, endsAtMs });
      const oldest = sessions.keys().next();
      if (sessions.size > SESSIONS_MAX && oldest.done !== true) sessions.delete(oldest.value);
    },
  };
};

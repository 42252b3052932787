/** TLS sessions by destination, so that a new connection costs one handshake message less and no signature. */
export interface TlsSessions {
  find(key: string): Buffer | undefined;
  remember(key: string, session: Buffer): void;
}

/** What a certificate was found to be when the session began holds for so long; then it is looked at again. */
const SESSION_MS_MAX = 300_000;
const SESSIONS_MAX = 1_000;

/** Keeps the newest session of each destination, each for at most five minutes from when it was given. */
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
      // One that goes on from an earlier session must not outlive the look at the certificate that began it.
      const endsAtMs = Math.min(sessions.get(key)?.endsAtMs ?? Number.POSITIVE_INFINITY, nowMs() + SESSION_MS_MAX);
      sessions.delete(key);
      sessions.set(key, { session, endsAtMs });
      const oldest = sessions.keys().next();
      if (sessions.size > SESSIONS_MAX && oldest.done !== true) sessions.delete(oldest.value);
    },
  };
};

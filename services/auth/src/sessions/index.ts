export { createDevices, DEVICE_PROOF_BYTES, type Devices } from './devices.ts';
export { endActingSessions, endAllSessions, endSession, nextRevocation } from './end-sessions.ts';
export {
  type AuthenticateSessionDeps,
  authenticateSession,
  type BrowserSession,
  findBrowserSession,
  type ListSessionsDeps,
  listLiveSessions,
} from './live-sessions.ts';
export {
  type RenewedSession,
  renewSession,
  secondsLeft,
  sessionRoutes,
  signInWithPasskey,
  toSessionJson,
} from './routes.ts';
export {
  deleteSessionsExpiredBefore,
  findActing,
  findSessionById,
  findSessionIdAfter,
  holdSession,
  holdSessionRow,
  NEVER,
  newSessionId,
  signInOf,
  updateAuthenticatedAt,
} from './session.ts';
export {
  clearedSessionCookies,
  readPagesCookie,
  renewedSessionCookies,
  type SignInOrigin,
  sessionCookies,
  signInOriginOf,
} from './session-cookies.ts';
export type { SessionTokenDeps, SignedSessionToken } from './session-token.ts';
export {
  type BeginSessionDeps,
  finishSignIn,
  insertNewSession,
  provePassword,
  type SecondProof,
  type StartedSession,
  type StartSessionDeps,
  signIn,
  startSession,
  startSessionIn,
} from './sign-in.ts';
export {
  deleteChallengesExpiredBefore,
  openChallenge,
  reopenChallenge,
  type SecondStep,
} from './sign-in-challenges.ts';

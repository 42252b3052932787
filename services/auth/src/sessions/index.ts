export {
  type AuthenticateSessionDeps,
  authenticateSession,
  type BrowserSession,
  findBrowserSession,
} from './authenticate-session.ts';
export { createDevices, DEVICE_PROOF_BYTES, type Devices } from './devices.ts';
export { endAllSessions, nextRevocation } from './end-all-sessions.ts';
export { endActingSessions, endSession } from './end-session.ts';
export { finishSignIn, type SecondProof } from './finish-sign-in.ts';
export { type ListSessionsDeps, listLiveSessions } from './list-sessions.ts';
export {
  deleteChallengesExpiredBefore,
  deleteSessionsExpiredBefore,
  findSessionById,
  findSessionIdAfter,
  holdSession,
  holdSessionRow,
  openChallenge,
  reopenChallenge,
  type SecondStep,
  updateAuthenticatedAt,
} from './queries.ts';
export {
  type RenewedSession,
  renewSession,
  secondsLeft,
  sessionRoutes,
  signInWithPasskey,
  toSessionJson,
} from './routes.ts';
export { NEVER, newSessionId } from './session.ts';
export {
  clearedSessionCookies,
  readPagesCookie,
  renewedSessionCookies,
  sessionCookies,
} from './session-cookies.ts';
export type { SessionTokenDeps, SignedSessionToken } from './session-token.ts';
export { type SignInOrigin, signInOriginOf } from './sign-in-origin.ts';
export {
  type BeginSessionDeps,
  insertNewSession,
  provePassword,
  type StartedSession,
  type StartSessionDeps,
  signIn,
  startSession,
  startSessionIn,
} from './start-session.ts';

export {
  type AuthenticateSessionDeps,
  authenticateSession,
  type BrowserSession,
  findBrowserSession,
} from './authenticate-session.ts';
export { reopenChallenge, type SecondStep } from './challenge.ts';
export { createDevices } from './devices.ts';
export { endAllSessions } from './end-all-sessions.ts';
export { endSession } from './end-session.ts';
export { finishSignIn } from './finish-sign-in.ts';
export {
  deleteChallengesExpiredBefore,
  deleteSessionsExpiredBefore,
  findSessionById,
  holdSession,
  updateAuthenticatedAt,
} from './queries.ts';
export { sessionRoutes } from './routes.ts';
export {
  clearedSessionCookies,
  pagesCookies,
  readDeviceToken,
  readPagesCookie,
  sessionCookies,
} from './session-cookies.ts';
export { secondsLeft, toSessionJson } from './session-json.ts';
export { signSessionToken } from './session-token.ts';
export { signInWithPasskey } from './sign-in-with-passkey.ts';
export {
  type BeginSessionDeps,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  signIn,
  startSession,
} from './start-session.ts';

export {
  type AuthenticateSessionDeps,
  authenticateSession,
  type BrowserSession,
  findBrowserSession,
} from './authenticate-session.ts';
export { endSession } from './end-session.ts';
export { deleteSessionsExpiredBefore } from './queries.ts';
export { sessionRoutes } from './routes.ts';
export { clearedSessionCookies, pagesCookie, readCookie, readPagesCookie } from './session-cookies.ts';
export { type StartSessionDeps, signIn, startSession } from './start-session.ts';

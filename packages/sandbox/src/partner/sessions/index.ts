export { clearSessionCookie, readSessionCookie, setSessionCookie } from './session-cookie.ts';
export { createSessionStore, type Session, type SessionStore } from './session-store.ts';

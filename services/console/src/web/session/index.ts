export { PASSWORD_CHARACTERS } from './password-characters.ts';
export { safeNext } from './safe-next.ts';
export { createSession, type Session, type SessionState, type SignedOutReason } from './session.ts';
export { SignInPage } from './sign-in-page.tsx';
export { SignUpPage } from './sign-up-page.tsx';
export { createStepUp, type StepUp } from './step-up.ts';
export { StepUpDialog } from './step-up-dialog.tsx';
export { SessionContext, useAccount, useSession, useSessionState } from './use-session.ts';

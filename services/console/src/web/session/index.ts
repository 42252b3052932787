export {
  accountIdOf,
  createSession,
  foreignOrganizationOf,
  openTabs,
  PASSWORD_CHARACTERS,
  type Session,
  type SessionState,
  type SignedOutReason,
  tokensFor,
} from './session.ts';
export { createStepUp, type StepUp } from './step-up.ts';
export { StepUpQuestion } from './step-up-question.tsx';
export { accountOf, SessionContext, useAccount, useIsBusiness, useSession, useSessionState } from './use-session.ts';

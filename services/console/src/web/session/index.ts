export { openTabs } from './open-tabs.ts';
export { PASSWORD_CHARACTERS } from './password-characters.ts';
export {
  accountIdOf,
  createSession,
  foreignOrganizationOf,
  type Session,
  type SessionState,
  type SignedOutReason,
  tokensFor,
} from './session.ts';
export { createStepUp, type StepUp } from './step-up.ts';
export { accountOf, SessionContext, useAccount, useIsBusiness, useSession, useSessionState } from './step-up-form.tsx';
export { StepUpQuestion } from './step-up-question.tsx';

import type { PasswordHasher } from '../../accounts/index.ts';
import type { AppFinder } from '../../apps/index.ts';
import type { AuthenticateSessionDeps } from '../../sessions/index.ts';
import type { AttemptThrottle } from '../../throttling/index.ts';
import type { DecideConsentDeps } from '../decide-consent.ts';
import type { FormTokens } from './form-token.ts';
import type { PushedMarks } from './pushed-mark.ts';

/** What the pages need: signing in and up, and deciding. */
export interface PagesDeps extends DecideConsentDeps, AuthenticateSessionDeps {
  findApp: AppFinder;
  passwords: PasswordHasher;
  throttle: AttemptThrottle;
  formTokens: FormTokens;
  pushedMarks: PushedMarks;
  /** Where single sign-on is configured, the sign-in page offers it. */
  sso: { name: string | undefined } | undefined;
  /** Makes the code of a decision from what the form brings back, so that the same form makes the same code. */
  decisionKey: Buffer;
}

import type { PasswordRules, SignUps, VerificationDeps } from '../../accounts/index.ts';
import type { AppFinder } from '../../apps/index.ts';
import type { BillingClient } from '../../billing-client.ts';
import type { AuthenticateSessionDeps, StartSessionDeps } from '../../sessions/index.ts';
import type { DecideConsentDeps } from '../decide-consent.ts';
import type { FindTypicalUse } from '../typical-use.ts';
import type { FormTokens } from './form-token.ts';
import type { PushedMarks } from './pushed-mark.ts';

export interface PagesDeps extends DecideConsentDeps, AuthenticateSessionDeps, StartSessionDeps, VerificationDeps {
  readonly billing: Pick<BillingClient, 'changeTerms' | 'readServices'>;
  readonly findApp: AppFinder;
  readonly signUps: SignUps;
  readonly passwordRules: PasswordRules;
  readonly formTokens: FormTokens;
  readonly pushedMarks: PushedMarks;
  readonly findTypicalUse: FindTypicalUse;
  /** If configured, the sign-in page offers single sign-on. */
  readonly sso: { name: string | undefined } | undefined;
  /** Derives the code of a decision from its form, so that the same form yields the same code. */
  readonly decisionKey: Buffer;
  /** Currency of plans and budgets. */
  readonly currency: string;
}

import type { Macs } from '@svc/secrets';
import type { PasswordRules, SignUps, VerificationDeps } from '../../accounts/index.ts';
import type { BillingClient } from '../../billing-client.ts';
import type { FindAskingApp } from '../../client-documents/index.ts';
import type { AuthenticateSessionDeps, StartSessionDeps } from '../../sessions/index.ts';
import type { DecideConsentDeps } from '../decide-consent.ts';
import type { FindTypicalUse } from '../typical-use.ts';
import type { FormTokens } from './form-token.ts';
import type { PushedMarks } from './pushed-mark.ts';

/** Dependencies of the consent page. */
export interface ConsentPageDeps extends Pick<DecideConsentDeps, 'database' | 'clock' | 'publicBaseUrl'> {
  readonly billing: Pick<BillingClient, 'changeTerms' | 'readPlan'>;
  readonly findTypicalUse: FindTypicalUse;
  /** Currency of plans and budgets. */
  readonly currency: string;
}

export interface PagesDeps
  extends DecideConsentDeps,
    AuthenticateSessionDeps,
    StartSessionDeps,
    VerificationDeps,
    ConsentPageDeps {
  readonly billing: ConsentPageDeps['billing'];
  readonly findApp: FindAskingApp;
  readonly signUps: SignUps;
  readonly passwordRules: PasswordRules;
  readonly formTokens: FormTokens;
  readonly pushedMarks: PushedMarks;
  /** If configured, the sign-in page offers single sign-on. */
  readonly sso: { name: string | undefined } | undefined;
  /** Derives the code of a decision from its form, so that the same form yields the same code. */
  readonly decisionMacs: Macs;
}

import { secondFactorRequestSchema } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { FactorClaim } from '../../factors/index.ts';
import { finishSignIn, reopenChallenge, type SecondProof, type StartSessionDeps } from '../../sessions/index.ts';
import { readAssertion } from './assertion-field.ts';
import type { PageText } from './page-text.ts';
import type { AskedStep } from './second-factor-page.ts';
import { EMPTY_FORM, type FormState } from './sign-in-page.ts';
import { messageFor, type SignInOutcome, type SubmittedForm } from './submit-sign-in.ts';

/** A code of an authenticator app, with the spaces that some apps show. Other text counts as a recovery code. */
const TOTP_CODE = /^\s*(\d\s*){6}$/;

/**
 * Completes a sign-in with the second step. On failure, returns the step with its error, or the sign-in form if the
 * step has expired.
 */
export const finishByForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: SubmittedForm,
  more: Pick<SecondProof, 'complete'> = {},
): Promise<SignInOutcome> => {
  const challenge = fields.get('challenge') ?? '';
  try {
    const { complete } = more;
    const proof = { challenge, claim: readClaim(challenge, fields), ...(complete === undefined ? {} : { complete }) };
    return { started: await finishSignIn(deps, proof, origin) };
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return await askAgain(deps, { challenge, message, text });
  }
};

const askAgain = async (
  deps: StartSessionDeps,
  { challenge, message, text }: { challenge: string; message: string; text: PageText },
): Promise<AskedStep | { refused: FormState }> => {
  try {
    return { step: await reopenChallenge(deps, challenge), error: message };
  } catch (error) {
    const isOver = error instanceof AppError && error.code === 'challenge_invalid';
    if (isOver) return { refused: { ...EMPTY_FORM, errors: { form: text.challengeOver } } };
    throw error;
  }
};

/** Throws `invalid_second_factor` if the contract refuses the fields. */
const readClaim = (challenge: string, fields: URLSearchParams): FactorClaim => {
  const sent = fields.get('assertion') ?? '';
  if (sent !== '') {
    const assertion = readAssertion(sent);
    if (assertion === undefined) throw new AppError('invalid_second_factor');
    return { assertion };
  }
  const code = fields.get('code') ?? '';
  const isTotp = TOTP_CODE.test(code);
  const parsed = secondFactorRequestSchema.safeParse({ challenge, [isTotp ? 'code' : 'recovery_code']: code });
  if (!parsed.success) throw new AppError('invalid_second_factor');
  return isTotp ? { code } : { recoveryCode: code };
};

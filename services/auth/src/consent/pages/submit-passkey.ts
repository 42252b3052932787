import { AppError } from '@svc/service-kit';
import { type StartedSession, type StartSessionDeps, signInWithPasskey } from '../../sessions/index.ts';
import { readAssertion } from './assertion-field.ts';
import { EMPTY_FORM, type FormState } from './sign-in-page.ts';
import { messageFor, type SubmittedForm } from './submit-sign-in.ts';

/** Signs in with the assertion of a passkey form. Returns the sign-in form with its error if that is refused. */
export const signInByPasskeyForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: SubmittedForm,
): Promise<{ started: StartedSession } | { refused: FormState }> => {
  try {
    const assertion = readAssertion(fields.get('assertion') ?? '');
    if (assertion === undefined) throw new AppError('invalid_passkey');
    return { started: await signInWithPasskey(deps, assertion, origin) };
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return { refused: { ...EMPTY_FORM, errors: { form: message } } };
  }
};

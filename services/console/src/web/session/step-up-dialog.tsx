import { type ReactElement, useEffect, useSyncExternalStore } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, checkText, Dialog, Form, fault, PasswordField, useForm } from '../ui/index.ts';
import type { StepUp } from './step-up.ts';
import { useAccount, useSession } from './use-session.ts';

/** Asks for the password while a sensitive act waits for it. */
export const StepUpDialog = ({ stepUp }: { stepUp: StepUp }): ReactElement => {
  const { session: texts } = useI18n().messages;
  const isAsked = useSyncExternalStore(stepUp.subscribe, stepUp.isAsked);
  // Signing out leaves no one to ask.
  useEffect(() => () => stepUp.answer(false), [stepUp]);
  return (
    <Dialog isOpen={isAsked} onClose={() => stepUp.answer(false)} title={texts.stepUpTitle} isInterruption>
      <StepUpForm onProven={() => stepUp.answer(true)} />
    </Dialog>
  );
};

const StepUpForm = ({ onProven }: { onProven: () => void }): ReactElement => {
  const { session: texts, errors } = useI18n().messages;
  const { email } = useAccount();
  const { call } = useApi();
  const session = useSession();
  const form = useForm({
    initial: { password: '' },
    check: ({ password }) => checkText('password', password, { required: true }),
    submit: async ({ password }) => {
      session.renewToken(await call('reauthenticate', { body: { password } }));
      onProven();
    },
    faultFor: ({ code }) => (code === 'wrong_password' ? fault('password', errors.next.wrong_password) : undefined),
  });
  return (
    <Form form={form} label={texts.stepUpTitle}>
      <p>{texts.stepUpLead}</p>
      {/* For password managers. */}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField
        label={texts.password}
        autoComplete="current-password"
        value={form.values.password}
        onChange={(password) => form.set('password', password)}
        fault={form.faultOf('password')}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.stepUpChecking : undefined}>
          {texts.stepUpConfirm}
        </Button>
      </div>
    </Form>
  );
};

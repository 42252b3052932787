import type { ReactElement } from 'react';
import { useApi, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { PASSWORD_CHARACTERS, useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, fault, PasswordField, useForm } from '../ui/index.ts';

const EMPTY = { current_password: '', new_password: '' };

/** Returns the hint for the current password where accounts may have none: those that sign in with an organization. */
export const usePasswordHint = (): string | undefined => {
  const { account } = useI18n().messages;
  const sso = useApiQuery('getSso', {});
  return sso.data?.enabled === true ? account.currentPasswordHint : undefined;
};

/** Replaces the password. The response contains a new session, because all others end. */
export const ChangePasswordForm = (): ReactElement => {
  const { account: texts, session: sessionTexts, errors } = useI18n().messages;
  const { email, display_name, business_name } = useAccount();
  const passwordHint = usePasswordHint();
  const { call } = useApi();
  const session = useSession();
  const toast = useToast();
  const form = useForm({
    initial: EMPTY,
    check: (values) => checkText('new_password', values.new_password, { required: true, ...PASSWORD_CHARACTERS }),
    submit: async ({ current_password, new_password }) => {
      const body = { current_password: current_password || null, new_password };
      session.adopt(await call('changePassword', { body }));
      form.reset(EMPTY);
      toast(texts.passwordChanged);
    },
    faultFor: ({ code }) =>
      code === 'wrong_password' ? fault('current_password', errors.next.wrong_password) : undefined,
  });
  return (
    <Form form={form} label={texts.passwordTitle}>
      {/* For password managers. */}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField
        label={texts.currentPassword}
        hint={passwordHint}
        autoComplete="current-password"
        value={form.values.current_password}
        onChange={(password) => form.set('current_password', password)}
        fault={form.faultOf('current_password')}
      />
      <PasswordField
        label={texts.newPassword}
        hint={sessionTexts.passwordHint}
        autoComplete="new-password"
        owner={{ email, displayName: display_name, businessName: business_name }}
        value={form.values.new_password}
        onChange={(password) => form.set('new_password', password)}
        fault={form.faultOf('new_password')}
      />
      <Button type="submit" busyLabel={form.isBusy ? texts.changing : undefined}>
        {texts.passwordTitle}
      </Button>
    </Form>
  );
};

import { type ReactElement, useState } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, checkEmail, Form, fault, Notice, PasswordField, TextField, useForm } from '../ui/index.ts';

const EMPTY = { email: '', current_password: '' };

/** Requests a new sign-in address, which takes effect once it is confirmed by a mailed link. */
export const ChangeEmailForm = (): ReactElement => {
  const { account: texts, errors } = useI18n().messages;
  const { call } = useApi();
  const [pending, setPending] = useState<string>();
  const form = useForm({
    initial: EMPTY,
    check: ({ email }) => checkEmail('email', email),
    submit: async ({ email, current_password }) => {
      const body = { email: email.trim(), current_password: current_password || null };
      const { pending_email } = await call('changeEmail', { body });
      form.reset(EMPTY);
      setPending(pending_email);
    },
    faultFor: ({ code }) => {
      if (code === 'wrong_password') return fault('current_password', errors.next.wrong_password);
      return code === 'email_taken' ? fault('email', errors.next.email_taken) : undefined;
    },
  });
  return (
    <Form form={form} label={texts.emailTitle}>
      {pending !== undefined && <Notice tone="good">{texts.emailPending(pending)}</Notice>}
      <TextField
        label={texts.newEmail}
        type="email"
        autoComplete="email"
        value={form.values.email}
        onChange={(email) => form.set('email', email)}
        fault={form.faultOf('email')}
      />
      <PasswordField
        label={texts.currentPassword}
        hint={texts.currentPasswordHint}
        autoComplete="current-password"
        value={form.values.current_password}
        onChange={(password) => form.set('current_password', password)}
        fault={form.faultOf('current_password')}
      />
      <Button type="submit" busyLabel={form.isBusy ? texts.changing : undefined}>
        {texts.emailTitle}
      </Button>
    </Form>
  );
};

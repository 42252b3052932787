import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useSession } from '../session/index.ts';
import { Button, checkEmail, Form, fault, PasswordField, TextField, useForm, useToast } from '../ui/index.ts';

const EMPTY = { email: '', current_password: '' };

/** Replaces the address with which one signs in. The answer is a new session, as all others end. */
export const ChangeEmailForm = (): ReactElement => {
  const { account: texts, errors } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const toast = useToast();
  const form = useForm({
    initial: EMPTY,
    check: ({ email }) => checkEmail('email', email),
    submit: async ({ email, current_password }) => {
      const body = { email: email.trim(), current_password: current_password || null };
      session.adopt(await call('changeEmail', { body }));
      form.reset(EMPTY);
      toast(texts.emailChanged);
    },
    faultFor: ({ code }) => {
      if (code === 'wrong_password') return fault('current_password', errors.next.wrong_password);
      return code === 'email_taken' ? fault('email', errors.next.email_taken) : undefined;
    },
  });
  return (
    <Form form={form} label={texts.emailTitle}>
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

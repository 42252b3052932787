import { type ReactElement, useState } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, checkEmail, Form, Notice, Page, TextField, useForm } from '../ui/index.ts';

/** Requests a link for a new password. Shows the same text whether or not the address has an account. */
export const AskForLink = (): ReactElement => {
  const { links, session } = useI18n().messages;
  const { call } = useApi();
  const [mailedTo, setMailedTo] = useState<string>();
  const form = useForm({
    initial: { email: '' },
    check: ({ email }) => checkEmail('email', email),
    submit: async ({ email }) => {
      await call('requestPasswordReset', { body: { email: email.trim() } });
      setMailedTo(email.trim());
    },
  });
  const texts = links.forgotten;
  return (
    <Page title={texts.title} lead={texts.lead}>
      {mailedTo !== undefined && <Notice tone="good">{texts.mailed(mailedTo)}</Notice>}
      <Form form={form} label={texts.title}>
        <TextField
          label={session.email}
          type="email"
          autoComplete="username"
          value={form.values.email}
          onChange={(email) => form.set('email', email)}
          fault={form.faultOf('email')}
        />
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? links.working : undefined}>
          {texts.button}
        </Button>
      </Form>
      <p className="aside">
        <a href="/sign-in">{session.toSignIn}</a>
      </p>
    </Page>
  );
};

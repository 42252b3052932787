import { type ReactElement, useState } from 'react';
import { ApiError, useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { PASSWORD_CHARACTERS, useSession } from '../session/index.ts';
import { Button, ButtonLink, ChoiceField, checkText, Form, Notice, Page, PasswordField, useForm } from '../ui/index.ts';
import { renewIfSignedIn } from './link-page.tsx';

interface Values {
  readonly password: string;
  readonly access: 'end' | 'keep';
}

/** The link does not reveal the owner of the password. The service knows it and decides. */
const UNKNOWN_OWNER = { email: '', displayName: null, businessName: null };

/** Sets a new password by a mailed link. */
export const SetPassword = ({ token }: { token: string }): ReactElement => {
  const { links, session: sessionTexts, account } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const [isDone, setDone] = useState(false);
  const texts = links.reset;
  const form = useForm<Values>({
    initial: { password: '', access: 'end' },
    check: ({ password }) => checkText('password', password, { required: true, ...PASSWORD_CHARACTERS }),
    submit: async ({ password, access }) => {
      await call('confirmPasswordReset', { body: { token, password, keep_access: access === 'keep' } });
      setDone(true);
      await renewIfSignedIn(session);
    },
  });
  if (isDone) {
    return (
      <Page title={texts.title}>
        <Notice tone="good">{texts.done}</Notice>
        <ButtonLink to="/sign-in" variant="primary" leavesConsole>
          {sessionTexts.toSignIn}
        </ButtonLink>
      </Page>
    );
  }
  if (form.error instanceof ApiError && form.error.code === 'token_invalid') {
    return (
      <Page title={texts.title}>
        <Notice tone="warn">{links.refused}</Notice>
        <a className="button button-secondary" href="/reset-password">
          <span>{links.forgotten.button}</span>
        </a>
      </Page>
    );
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Form form={form} label={texts.title}>
        <PasswordField
          label={account.newPassword}
          hint={sessionTexts.passwordHint}
          autoComplete="new-password"
          owner={UNKNOWN_OWNER}
          value={form.values.password}
          onChange={(password) => form.set('password', password)}
          fault={form.faultOf('password')}
        />
        <ChoiceField
          label={texts.access}
          value={form.values.access}
          onChange={(access) => form.set('access', access)}
          options={[
            { value: 'end', label: texts.end, hint: texts.endHint },
            { value: 'keep', label: texts.keep, hint: texts.keepHint },
          ]}
        />
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? links.working : undefined}>
          {texts.button}
        </Button>
      </Form>
    </Page>
  );
};

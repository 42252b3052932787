import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, checkText, Form, Notice, Page, PasswordField, TextField, useForm } from '../ui/index.ts';
import { safeNext } from './safe-next.ts';
import type { SignedOutReason } from './session.ts';
import { useSession } from './use-session.ts';

/** Signs somebody in who has an account. */
export const SignInPage = ({ reason }: { reason: SignedOutReason }): ReactElement => {
  const { messages } = useI18n();
  const session = useSession();
  const [search] = useSearchParams();
  const texts = messages.session;
  const form = useForm({
    initial: { email: '', password: '' },
    check: ({ email, password }) => [
      ...checkText('email', email, { required: true, max: 254 }),
      ...checkText('password', password, { required: true }),
    ],
    submit: ({ email, password }) => session.signIn({ email: email.trim(), password }),
  });
  return (
    <Page title={texts.signInTitle} lead={texts.signInLead}>
      {reason === 'expired' && <Notice tone="warn">{texts.expired}</Notice>}
      {reason === 'signed_out' && <Notice tone="good">{texts.signedOut}</Notice>}
      <Form form={form} label={texts.signInTitle}>
        <TextField
          label={texts.email}
          type="email"
          autoComplete="username"
          value={form.values.email}
          onChange={(email) => form.set('email', email)}
          fault={form.faultOf('email')}
        />
        <PasswordField
          label={texts.password}
          autoComplete="current-password"
          value={form.values.password}
          onChange={(password) => form.set('password', password)}
          fault={form.faultOf('password')}
        />
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.signingIn : undefined}>
          {texts.signIn}
        </Button>
      </Form>
      <p className="aside">
        <Link to="/reset-password">{texts.forgotten}</Link>
      </p>
      <SsoLink />
      <p className="aside">
        {texts.noAccount} <Link to={{ pathname: '/sign-up', search: search.toString() }}>{texts.toSignUp}</Link>
      </p>
    </Page>
  );
};

/** The way over the operator's OpenID provider, where there is one. It leads away from the console and comes back signed in. */
const SsoLink = (): ReactElement | null => {
  const { messages } = useI18n();
  const [search] = useSearchParams();
  const { data } = useApiQuery('getSso', {}, { staleTime: Number.POSITIVE_INFINITY });
  if (data?.enabled !== true) return null;
  const query = new URLSearchParams({ return_to: safeNext(search.get('next')) });
  return (
    <a className="button button-secondary" href={`/v1/console/sso/start?${query}`}>
      <span>{messages.session.singleSignOn(data.name)}</span>
    </a>
  );
};

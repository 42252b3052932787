import type { AccountType } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useI18n } from '../i18n/index.ts';
import {
  Button,
  ChoiceField,
  checkEmail,
  checkText,
  Form,
  fault,
  Page,
  PasswordField,
  TextField,
  useForm,
} from '../ui/index.ts';
import { PASSWORD_CHARACTERS } from './password-characters.ts';
import { useSession } from './use-session.ts';

interface SignUpValues {
  readonly account_type: AccountType;
  readonly business_name: string;
  readonly display_name: string;
  readonly email: string;
  readonly password: string;
}

const EMPTY: SignUpValues = { account_type: 'personal', business_name: '', display_name: '', email: '', password: '' };

const checkSignUp = (values: SignUpValues) => [
  ...checkText('business_name', values.business_name, { required: values.account_type === 'business', max: 120 }),
  ...checkText('display_name', values.display_name, { max: 80 }),
  ...checkEmail('email', values.email),
  ...checkText('password', values.password, { required: true, ...PASSWORD_CHARACTERS }),
];

/** Creates an account and signs in with it. */
export const SignUpPage = (): ReactElement => {
  const { messages, locale } = useI18n();
  const session = useSession();
  const [search] = useSearchParams();
  const texts = messages.session;
  const form = useForm<SignUpValues>({
    initial: EMPTY,
    check: checkSignUp,
    submit: ({ account_type, business_name, display_name, email, password }) =>
      session.signUp({
        account_type,
        email: email.trim(),
        password,
        locale,
        ...(account_type === 'business' ? { business_name: business_name.trim() } : {}),
        ...(display_name.trim() === '' ? {} : { display_name: display_name.trim() }),
      }),
    faultFor: ({ code }) => {
      if (code === 'email_taken') return fault('email', messages.errors.next.email_taken);
      // The address is taken, which only its mailbox tells.
      return code === 'invalid_credentials' ? fault('email', texts.checkMail) : undefined;
    },
  });
  return (
    <Page title={texts.signUpTitle} lead={texts.signUpLead}>
      <Form form={form} label={texts.signUpTitle}>
        <ChoiceField
          label={texts.accountType}
          value={form.values.account_type}
          onChange={(type) => form.set('account_type', type)}
          options={[
            { value: 'personal', label: texts.personal, hint: texts.personalHint },
            { value: 'business', label: texts.business, hint: texts.businessHint },
          ]}
        />
        {form.values.account_type === 'business' && (
          <TextField
            label={texts.businessName}
            autoComplete="organization"
            value={form.values.business_name}
            onChange={(name) => form.set('business_name', name)}
            fault={form.faultOf('business_name')}
          />
        )}
        <TextField
          label={texts.displayName}
          optional
          hint={texts.displayNameHint}
          autoComplete="name"
          value={form.values.display_name}
          onChange={(name) => form.set('display_name', name)}
          fault={form.faultOf('display_name')}
        />
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
          hint={texts.passwordHint}
          autoComplete="new-password"
          value={form.values.password}
          onChange={(password) => form.set('password', password)}
          fault={form.faultOf('password')}
        />
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.signingUp : undefined}>
          {texts.signUp}
        </Button>
      </Form>
      <p className="aside">
        {texts.haveAccount} <Link to={{ pathname: '/sign-in', search: search.toString() }}>{texts.toSignIn}</Link>
      </p>
    </Page>
  );
};

import { type ReactElement, useEffect, useState } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import { ApiError, useApi } from './api/index.ts';
import { useI18n } from './i18n/index.ts';
import { PASSWORD_CHARACTERS, useSession } from './session/index.ts';
import {
  Button,
  ButtonLink,
  ChoiceField,
  checkEmail,
  checkText,
  Form,
  fault,
  Notice,
  Page,
  PasswordField,
  TextField,
  useForm,
} from './ui/index.ts';

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

/**
 * Returns the token of the mailed link, and moves it from the address, where others could read it, to the state of this
 * entry in the browser's history, which survives a reload.
 */
export const useMailedToken = (): string | undefined => {
  const [search] = useSearchParams();
  const [pathname, navigate] = useLocation();
  const [token] = useState(() => search.get('token') ?? tokenOfHistory());
  const isInAddress = search.has('token');
  useEffect(() => {
    if (isInAddress) navigate(pathname, { replace: true, state: { mailedToken: token } });
  }, [isInAddress, navigate, pathname, token]);
  return token;
};

const tokenOfHistory = (): string | undefined => {
  const token: unknown = window.history.state?.mailedToken;
  return typeof token === 'string' ? token : undefined;
};

const isRefusal = (error: unknown): boolean => error instanceof ApiError && error.code === 'token_invalid';

/** Awaits the answer to a token. Clears it from the history, which browsers store, once it is of no more use. */
const redeem = async (sent: Promise<unknown>): Promise<void> => {
  const clear = (): void => window.history.replaceState(null, '');
  try {
    await sent;
  } catch (error) {
    if (isRefusal(error)) clear();
    throw error;
  }
  clear();
};

type LinkOperation = 'confirmVerification' | 'confirmEmailChange' | 'undoEmailChange' | 'cancelDeletion';

/** Performs the action of a mailed link when its button is pressed: mail scanners open links too. */
export const LinkPage = ({ operation }: { operation: LinkOperation }): ReactElement => {
  const { links, session: sessionTexts } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const token = useMailedToken();
  const [isDone, setDone] = useState(false);
  const texts = links[operation];
  const canRequestAnother = operation === 'confirmVerification' || operation === 'confirmEmailChange';
  const form = useForm({
    initial: {},
    submit: async () => {
      await redeem(call(operation, { body: { token: token ?? '' } }));
      setDone(true);
      await renewIfSignedIn(session);
    },
  });
  const isRefused = token === undefined || isRefusal(form.error);
  return (
    <Page title={texts.title} lead={isDone || isRefused ? undefined : texts.lead}>
      {isDone && <Notice tone="good">{texts.done}</Notice>}
      {!isDone && isRefused && <Notice tone="warn">{canRequestAnother ? links.refused : links.refusedFinally}</Notice>}
      {!isDone && !isRefused && (
        <Form form={form} label={texts.title}>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? links.working : undefined}>
            {texts.button}
          </Button>
        </Form>
      )}
      {(isDone || isRefused) && <ButtonLink to="/">{sessionTexts.toConsole}</ButtonLink>}
    </Page>
  );
};

/** Renews the session of this browser, which may have ended or whose account may have changed. */
export const renewIfSignedIn = async (session: ReturnType<typeof useSession>): Promise<void> => {
  if (session.state().status === 'signed_in') await session.renew().catch(() => undefined);
};

interface Values {
  readonly password: string;
  /** Undefined until the person decides: what ends does not come back. */
  readonly access: 'end' | 'keep' | undefined;
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
    initial: { password: '', access: undefined },
    check: ({ password, access }) => [
      ...checkText('password', password, { required: true, ...PASSWORD_CHARACTERS }),
      ...(access === undefined ? [fault('access', texts.accessNeeded)] : []),
    ],
    submit: async ({ password, access }) => {
      await redeem(call('confirmPasswordReset', { body: { token, password, keep_access: access === 'keep' } }));
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
  if (isRefusal(form.error)) {
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
          fault={form.faultOf('access')}
        />
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? links.working : undefined}>
          {texts.button}
        </Button>
      </Form>
    </Page>
  );
};

/** Routes the pages of mailed links, which need no session. */
export const MailedLinkPages = (): ReactElement => (
  <Switch>
    <Route path="/reset-password">
      <ResetPasswordPage />
    </Route>
    <Route path="/verify-email">
      <LinkPage operation="confirmVerification" />
    </Route>
    <Route path="/confirm-email">
      <LinkPage operation="confirmEmailChange" />
    </Route>
    <Route path="/undo-email">
      <LinkPage operation="undoEmailChange" />
    </Route>
    <Route path="/cancel-deletion">
      <LinkPage operation="cancelDeletion" />
    </Route>
  </Switch>
);

/** Asks for the address of a forgotten password or, if opened by the mailed link, for the new password. */
const ResetPasswordPage = (): ReactElement => {
  const token = useMailedToken();
  return token === undefined ? <AskForLink /> : <SetPassword token={token} />;
};

import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ApiError, useApi } from './api/index.ts';
import { dropDrafts } from './drafts.ts';
import { useI18n } from './i18n/index.ts';
import { linkTo } from './organization-address.ts';
import { useAccount, useSession, useSessionState } from './session/index.ts';
import { Button, ButtonLink, ErrorNotice, Form, Notice, Page, useForm } from './ui/index.ts';

const PATH = '/invitations';

/** Accepts the invitation of a mailed link, as the person whose address was invited. */
export const InvitationPage = (): ReactElement => {
  const { invitation: texts, session: sessionTexts } = useI18n().messages;
  const [search] = useSearchParams();
  // The address changes once the invitation is used up.
  const [token] = useState(() => search.get('token') ?? '');
  const state = useSessionState();
  if (token === '') {
    return (
      <Page title={texts.title}>
        <Notice tone="warn">{texts.noToken}</Notice>
        <ButtonLink to="/">{sessionTexts.toConsole}</ButtonLink>
      </Page>
    );
  }
  return state.status === 'signed_in' ? <AcceptForm token={token} /> : <SignInFirst token={token} />;
};

/** Leads to the sign-in or sign-up, which come back with the token. */
const SignInFirst = ({ token }: { token: string }): ReactElement => {
  const { messages, locale } = useI18n();
  const { invitation: texts, session } = messages;
  const query = new URLSearchParams({ next: `${PATH}?${new URLSearchParams({ token })}`, locale });
  return (
    <Page title={texts.title} lead={texts.signedOutLead}>
      <ButtonLink to={`/sign-in?${query}`} variant="primary" leavesConsole>
        {session.toSignIn}
      </ButtonLink>
      <ButtonLink to={`/sign-up?${query}`} leavesConsole>
        {texts.signUp}
      </ButtonLink>
    </Page>
  );
};

const AcceptForm = ({ token }: { token: string }): ReactElement => {
  const { invitation: texts, session: sessionTexts } = useI18n().messages;
  const { call } = useApi();
  const { email } = useAccount();
  const [, navigate] = useLocation();
  const form = useForm({
    initial: {},
    submit: async () => {
      const { organization } = await call('acceptInvitation', { body: { token } });
      navigate(linkTo(organization.id), { replace: true });
    },
  });
  const code = form.error instanceof ApiError ? form.error.code : undefined;
  if (code === 'invitation_for_another') return <ForAnother email={email} />;
  if (code === 'token_invalid') {
    return (
      <Page title={texts.title}>
        <Notice tone="warn">{texts.usedUp}</Notice>
        <ButtonLink to="/">{sessionTexts.toConsole}</ButtonLink>
      </Page>
    );
  }
  return (
    <Page title={texts.title} lead={texts.signedInAs(email)}>
      <Form form={form} label={texts.title}>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.accepting : undefined}>
          {texts.accept}
        </Button>
      </Form>
      <ButtonLink to="/">{texts.notNow}</ButtonLink>
    </Page>
  );
};

/** Offers to sign out, after which the page leads to the sign-in. */
const ForAnother = ({ email }: { email: string }): ReactElement => {
  const { invitation: texts, shell } = useI18n().messages;
  const session = useSession();
  const leave = useMutation({
    mutationFn: async () => {
      await session.signOut();
      dropDrafts();
    },
  });
  return (
    <Page title={texts.title}>
      <Notice tone="warn">{texts.forAnother(email)}</Notice>
      {leave.isError && <ErrorNotice error={leave.error} />}
      <Button
        variant="primary"
        busyLabel={leave.isPending ? shell.signingOut : undefined}
        onClick={() => leave.mutate()}
      >
        {texts.signOut}
      </Button>
      <ButtonLink to="/">{texts.stay}</ButtonLink>
    </Page>
  );
};

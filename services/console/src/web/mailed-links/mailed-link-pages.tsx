import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { AskForLink } from './ask-for-link.tsx';
import { LinkPage } from './link-page.tsx';
import { SetPassword } from './set-password.tsx';
import { useMailedToken } from './use-mailed-token.ts';

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

import type { ReactElement } from 'react';
import { Route, Switch } from 'wouter';
import { LinkPage } from './link-page.tsx';
import { ResetPasswordPage } from './reset-password-page.tsx';

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

import type { ReactElement } from 'react';
import { Route, Routes } from 'react-router';
import { LinkPage } from './link-page.tsx';
import { ResetPasswordPage } from './reset-password-page.tsx';

/** The pages that links in mails open, whether or not a person is signed in. */
export const MailedLinkPages = (): ReactElement => (
  <Routes>
    <Route path="/reset-password" element={<ResetPasswordPage />} />
    <Route path="/verify-email" element={<LinkPage operation="confirmVerification" />} />
    <Route path="/confirm-email" element={<LinkPage operation="confirmEmailChange" />} />
    <Route path="/undo-email" element={<LinkPage operation="undoEmailChange" />} />
    <Route path="/cancel-deletion" element={<LinkPage operation="cancelDeletion" />} />
  </Routes>
);

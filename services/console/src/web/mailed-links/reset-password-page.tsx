import type { ReactElement } from 'react';
import { AskForLink } from './ask-for-link.tsx';
import { SetPassword } from './set-password.tsx';
import { useMailedToken } from './use-mailed-token.ts';

/** Asks for the address of a forgotten password or, if opened by the mailed link, for the new password. */
export const ResetPasswordPage = (): ReactElement => {
  const token = useMailedToken();
  return token === undefined ? <AskForLink /> : <SetPassword token={token} />;
};

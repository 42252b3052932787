import type { ReactElement } from 'react';
import { FactorsCard } from '../factors/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Card, Page } from '../ui/index.ts';
import { ChangeEmailForm } from './change-email-form.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { DeleteAccountCard } from './delete-account-card.tsx';
import { OwnDataCard } from './own-data-card.tsx';
import { ProfileCard } from './profile-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { VerifyEmailCard } from './verify-email-card.tsx';

/** Shows the account: profile, sign-in, devices and data. */
export const AccountPage = (): ReactElement => {
  const { account: texts } = useI18n().messages;
  const { email_verified } = useAccount();
  return (
    <Page title={texts.title} lead={texts.lead}>
      {!email_verified && <VerifyEmailCard />}
      <ProfileCard />
      <FactorsCard />
      <SessionsCard />
      <Card title={texts.passwordTitle} lead={texts.endsSessions}>
        <ChangePasswordForm />
      </Card>
      <Card title={texts.emailTitle} lead={texts.emailLead}>
        <ChangeEmailForm />
      </Card>
      <OwnDataCard />
      <DeleteAccountCard />
    </Page>
  );
};

import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Card, Facts, Page } from '../ui/index.ts';
import { ChangeEmailForm } from './change-email-form.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { VerifyEmailCard } from './verify-email-card.tsx';

/** Who is signed in, and how. */
export const AccountPage = (): ReactElement => {
  const { messages, formats } = useI18n();
  const { account: texts, session } = messages;
  const account = useAccount();
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Card title={texts.profile}>
        <Facts
          items={[
            [texts.email, account.email],
            [texts.type, texts.types[account.account_type]],
            ...(account.business_name === null ? [] : [[session.businessName, account.business_name] as const]),
            ...(account.display_name === null ? [] : [[session.displayName, account.display_name] as const]),
            [texts.since, formats.date(account.created_at)],
            [texts.userId, <code key="id">{account.svc_user_id}</code>],
          ]}
        />
      </Card>
      {!account.email_verified && <VerifyEmailCard />}
      <Card title={texts.passwordTitle} lead={texts.endsSessions}>
        <ChangePasswordForm />
      </Card>
      <Card title={texts.emailTitle} lead={texts.emailLead}>
        <ChangeEmailForm />
      </Card>
    </Page>
  );
};

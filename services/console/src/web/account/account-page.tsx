import type { ReactElement } from 'react';
import { useState } from 'react';
import { Permitted } from '../access/index.ts';
import { useApi } from '../api/index.ts';
import { FactorsCard } from '../factors/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, Facts, Form, More, Page, useForm } from '../ui/index.ts';
import { ChangeEmailForm } from './change-email-form.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { DeleteAccountCard, OwnDataCard } from './own-data-cards.tsx';
import { ProfileForm } from './profile-form.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { UpgradeDialog } from './upgrade-dialog.tsx';

/** Shows the account: profile, sign-in, devices and data. */
export const AccountPage = (): ReactElement => {
  const { account: texts } = useI18n().messages;
  const { email_verified } = useAccount();
  const session = useSession();
  return (
    <Page title={texts.title} lead={texts.lead}>
      {!email_verified && <VerifyEmailCard />}
      <ProfileCard />
      <FactorsCard />
      <SessionsCard />
      <Card title={texts.credentials}>
        <More label={texts.passwordTitle}>
          <p className="hint">{texts.endsSessions}</p>
          <ChangePasswordForm />
        </More>
        <More label={texts.emailTitle}>
          <p className="hint">{texts.emailLead}</p>
          <ChangeEmailForm />
        </More>
      </Card>
      <Permitted to="exportAccount">
        <OwnDataCard />
      </Permitted>
      <Permitted to="deleteAccount">
        <DeleteAccountCard onDeleted={session.endDeleted} />
      </Permitted>
    </Page>
  );
};

/** Mails the link that confirms the address of the account. */
const VerifyEmailCard = (): ReactElement => {
  const { account: texts } = useI18n().messages;
  const { call } = useApi();
  const toast = useToast();
  const form = useForm({
    initial: {},
    submit: async () => {
      await call('requestVerification', {});
      toast(texts.verifyMailed);
    },
  });
  return (
    <Card title={texts.verifyTitle} lead={texts.verifyLead}>
      <Form form={form} label={texts.verifyTitle}>
        <Button type="submit" busyLabel={form.isBusy ? texts.verifyMailing : undefined}>
          {texts.verifyMail}
        </Button>
      </Form>
    </Card>
  );
};

/** Shows who is signed in, changes the profile, and turns a personal account into a business. */
const ProfileCard = (): ReactElement => {
  const { messages, formats } = useI18n();
  const { account: texts } = messages;
  const account = useAccount();
  const [isUpgrading, setUpgrading] = useState(false);
  const upgrade = (
    <Button small onClick={() => setUpgrading(true)}>
      {texts.upgrade}
    </Button>
  );
  return (
    <Card title={texts.profile} actions={account.account_type === 'personal' ? upgrade : undefined}>
      <Facts
        items={[
          [texts.email, account.email],
          [texts.type, texts.types[account.account_type]],
          [texts.since, formats.date(account.created_at)],
          [texts.userId, <code key="id">{account.svc_user_id}</code>],
        ]}
      />
      {/* Begins anew once the account is a business. */}
      <ProfileForm key={account.account_type} />
      {isUpgrading && <UpgradeDialog onClose={() => setUpgrading(false)} />}
    </Card>
  );
};

import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Button, Card, Facts } from '../ui/index.ts';
import { ProfileForm } from './profile-form.tsx';
import { UpgradeDialog } from './upgrade-dialog.tsx';

/** Shows who is signed in, changes the profile, and turns a personal account into a business. */
export const ProfileCard = (): ReactElement => {
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

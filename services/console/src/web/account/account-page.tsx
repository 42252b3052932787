import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { useApi } from '../api/index.ts';
import { FactorsCard } from '../factors/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import {
  Button,
  Card,
  checkEmail,
  checkText,
  ErrorNotice,
  Facts,
  Form,
  fault,
  More,
  Notice,
  Page,
  PasswordField,
  saveFile,
  TextField,
  useForm,
} from '../ui/index.ts';
import { ChangePasswordForm, usePasswordHint } from './change-password-form.tsx';
import { DeleteAccountDialog, useDataTexts } from './delete-account-dialog.tsx';
import { ProfileForm } from './profile-form.tsx';
import { NAME_CHARACTERS } from './profile-values.ts';
import { SessionsCard } from './sessions-card.tsx';

const EMPTY = { email: '', current_password: '' };

/** Requests a new sign-in address, which takes effect once it is confirmed by a mailed link. */
const ChangeEmailForm = (): ReactElement => {
  const { account: texts, errors } = useI18n().messages;
  const passwordHint = usePasswordHint();
  const { call } = useApi();
  const [pending, setPending] = useState<string>();
  const form = useForm({
    initial: EMPTY,
    check: ({ email }) => checkEmail('email', email),
    submit: async ({ email, current_password }) => {
      const body = { email: email.trim(), current_password: current_password || null };
      const { pending_email } = await call('changeEmail', { body });
      form.reset(EMPTY);
      setPending(pending_email);
    },
    faultFor: ({ code }) => {
      if (code === 'wrong_password') return fault('current_password', errors.next.wrong_password);
      return code === 'email_taken' ? fault('email', errors.next.email_taken) : undefined;
    },
  });
  return (
    <Form form={form} label={texts.emailTitle}>
      {pending !== undefined && <Notice tone="good">{texts.emailPending(pending)}</Notice>}
      <TextField
        label={texts.newEmail}
        type="email"
        autoComplete="email"
        value={form.values.email}
        onChange={(email) => form.set('email', email)}
        fault={form.faultOf('email')}
      />
      <PasswordField
        label={texts.currentPassword}
        hint={passwordHint}
        autoComplete="current-password"
        value={form.values.current_password}
        onChange={(password) => form.set('current_password', password)}
        fault={form.faultOf('current_password')}
      />
      <Button type="submit" busyLabel={form.isBusy ? texts.changing : undefined}>
        {texts.emailTitle}
      </Button>
    </Form>
  );
};

/** Converts a personal account to a business account. The response contains the same session with a new token. */
const UpgradeDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { account: texts, session: sessionTexts, common } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const toast = useToast();
  const form = useForm({
    draft: 'upgrade',
    initial: { business_name: '' },
    check: ({ business_name }) =>
      checkText('business_name', business_name, { required: true, max: NAME_CHARACTERS.business }),
    submit: async ({ business_name }) => {
      session.adopt(await call('upgradeAccount', { body: { business_name: business_name.trim() } }));
      toast(texts.upgraded);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.upgrade}>
      <p>{texts.upgradeText}</p>
      <Form form={form} label={texts.upgrade}>
        <TextField
          label={sessionTexts.businessName}
          autoComplete="organization"
          value={form.values.business_name}
          onChange={(name) => form.set('business_name', name)}
          fault={form.faultOf('business_name')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
            {texts.upgradeConfirm}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

const DATE_CHARACTERS = 10;

/** Links to the deletion of the account. */
export const DeleteAccountCard = ({ onDeleted }: { onDeleted: (erasedAt: string) => void }): ReactElement => {
  const texts = useDataTexts();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Card title={texts.delete} lead={texts.deleteText} tone="danger">
      <Button onClick={() => setDeleting(true)}>{texts.delete}</Button>
      {isDeleting && <DeleteAccountDialog onDeleted={onDeleted} onClose={() => setDeleting(false)} />}
    </Card>
  );
};

/** Downloads all data of the account. */
export const OwnDataCard = (): ReactElement => {
  const texts = useDataTexts();
  const { download } = useApi();
  const collect = useMutation({
    mutationFn: () => download('exportAccount', {}, 'application/json'),
    onSuccess: (file) => saveFile(file, `svc-account-${new Date().toISOString().slice(0, DATE_CHARACTERS)}.json`),
  });
  return (
    <Card title={texts.title} lead={texts.exportText}>
      {collect.isError && <ErrorNotice error={collect.error} onRetry={() => collect.mutate()} />}
      <Button
        icon="download"
        busyLabel={collect.isPending ? texts.exporting : undefined}
        onClick={() => collect.mutate()}
      >
        {texts.export}
      </Button>
    </Card>
  );
};

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
  const { email } = useAccount();
  const toast = useToast();
  const [isSent, setSent] = useState(false);
  const form = useForm({
    initial: {},
    submit: async () => {
      await call('requestVerification', {});
      setSent(true);
      toast(texts.verifyMailed);
    },
  });
  return (
    <Card title={texts.verifyTitle} lead={isSent ? texts.verifySent(email) : texts.verifyLead(email)}>
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

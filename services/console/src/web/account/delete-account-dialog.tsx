import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { type Messages, useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { foreignOrganizationOf, useAccount, useIsBusiness, useSession } from '../session/index.ts';
import { Button, Form, fault, PasswordField, useForm } from '../ui/index.ts';
import { usePasswordHint } from './change-password-form.tsx';

/** Returns the texts about the data of the account that the pages are about: a person's, or an organization's. */
export const useDataTexts = (): Messages['ownData'] => {
  const { ownData, organizationData } = useI18n().messages;
  const isForeign = foreignOrganizationOf(useAccount()) !== undefined;
  return isForeign ? { ...ownData, ...organizationData } : ownData;
};

/** Explains what a deletion ends and when, asks for the password, and deletes the account. */
export const DeleteAccountDialog = ({
  onDeleted,
  onClose,
}: {
  onDeleted: (erasedAt: string) => void;
  onClose: () => void;
}): ReactElement => {
  const { session: sessionTexts, errors } = useI18n().messages;
  const passwordHint = usePasswordHint();
  const texts = useDataTexts();
  const { email } = useAccount();
  const isBusiness = useIsBusiness();
  const { call } = useApi();
  const session = useSession();
  const form = useForm({
    initial: { password: '' },
    submit: async ({ password }) => {
      // The password is also the fresh proof that the deletion requires, so it is asked for only once.
      if (password !== '') session.renewToken(await call('reauthenticate', { body: { password } }));
      const { erased_at } = await call('deleteAccount', password === '' ? {} : { body: { password } });
      onDeleted(erased_at);
    },
    faultFor: ({ code }) => {
      if (code === 'fresh_sign_in_required') return fault('password', texts.passwordNeeded);
      return code === 'wrong_password' ? fault('password', errors.next.wrong_password) : undefined;
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.deleteTitle}>
      <ul className="stages">
        <li>{texts.deleteNow}</li>
        {isBusiness && <li>{texts.deleteApps}</li>}
        <li>{texts.deleteLater}</li>
        <li>{texts.deleteWallet}</li>
      </ul>
      <Form form={form} label={texts.deleteTitle}>
        {/* For password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={email} />
        <PasswordField
          label={sessionTexts.password}
          hint={passwordHint}
          autoComplete="current-password"
          value={form.values.password}
          onChange={(password) => form.set('password', password)}
          fault={form.faultOf('password')}
        />
        <DialogActions>
          <Button type="submit" variant="danger" busyLabel={form.isBusy ? texts.deleting : undefined}>
            {texts.deleteConfirm}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

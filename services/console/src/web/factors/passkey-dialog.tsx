import { describeDevice } from '@svc/contracts/describe-device';
import type { ReactElement } from 'react';
import { useApi, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { createPasskey } from '../passkeys.ts';
import { useAccount } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, TextField, useForm } from '../ui/index.ts';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';

const NAME_CHARACTERS_MAX = 80;

/** Creates a passkey, then shows the recovery codes if it is the account's first second factor. */
export const PasskeyDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const { email } = useAccount();
  const { call } = useApi();
  const toast = useToast();
  const showOnce = useShowOnce();
  const add = useApiMutation('addPasskey', {
    refreshes: ['listFactors'],
    shows: ({ name, recovery_codes: codes }) => {
      toast(texts.passkeyAdded(name));
      onClose();
      if (codes === undefined) return;
      showOnce((close) => <RecoveryCodesDialog codes={codes} email={email} isReplacement={false} onClose={close} />);
    },
  });
  const form = useForm({
    initial: { name: describeDevice(navigator.userAgent) ?? '' },
    check: ({ name }) => checkText('name', name, { max: NAME_CHARACTERS_MAX }),
    submit: async ({ name }) => {
      const passkey = await createPasskey(await call('createPasskeyOptions', {}));
      await add.mutateAsync({ body: { ...passkey, name: name.trim() || null } });
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.addPasskey}>
      <Form form={form} label={texts.addPasskey}>
        <p>{texts.passkeyText}</p>
        <TextField
          label={texts.passkeyName}
          hint={texts.passkeyNameHint}
          optional
          autoComplete="off"
          value={form.values.name}
          onChange={(name) => form.set('name', name)}
          fault={form.faultOf('name')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.passkeyCreating : undefined}>
            {texts.passkeyCreate}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

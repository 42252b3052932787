import { describeDevice } from '@svc/contracts/describe-device';
import { type ReactElement, useState } from 'react';
import { useApi, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { createPasskey } from '../passkeys/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, TextField, useForm } from '../ui/index.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

const NAME_CHARACTERS_MAX = 80;

/** Creates a passkey, then shows the recovery codes if it is the account's first second factor. */
export const PasskeyDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const [codes, setCodes] = useState<readonly string[]>();
  const isDone = codes !== undefined;
  return (
    <Dialog isOpen onClose={onClose} title={isDone ? texts.codesTitle : texts.addPasskey} canDismiss={!isDone}>
      {isDone ? (
        <RecoveryCodes codes={codes} isReplacement={false} onDone={onClose} />
      ) : (
        <PasskeyForm onCodes={setCodes} onClose={onClose} />
      )}
    </Dialog>
  );
};

const PasskeyForm = ({
  onCodes,
  onClose,
}: {
  onCodes: (codes: readonly string[]) => void;
  onClose: () => void;
}): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const { call } = useApi();
  const toast = useToast();
  const add = useApiMutation('addPasskey', { refreshes: ['listFactors'] });
  const form = useForm({
    initial: { name: describeDevice(navigator.userAgent) ?? '' },
    check: ({ name }) => checkText('name', name, { max: NAME_CHARACTERS_MAX }),
    submit: async ({ name }) => {
      const passkey = await createPasskey(await call('createPasskeyOptions', {}));
      const added = await add.mutateAsync({ body: { ...passkey, name: name.trim() || null } });
      toast(texts.passkeyAdded(added.name));
      if (added.recovery_codes === undefined) onClose();
      else onCodes(added.recovery_codes);
    },
  });
  return (
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
      <DialogActions onClose={onClose}>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.passkeyCreating : undefined}>
          {texts.passkeyCreate}
        </Button>
      </DialogActions>
    </Form>
  );
};

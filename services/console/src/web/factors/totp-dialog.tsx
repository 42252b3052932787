import { lazy, type ReactElement, Suspense, useState } from 'react';
import { type Answer, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { Button, checkText, Form, fault, Loading, Secret, TextField, useForm } from '../ui/index.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }));

/** Activates an authenticator app with its first code, then shows the recovery codes. */
export const TotpDialog = ({
  added,
  hadCodes,
  onClose,
}: {
  added: Answer<'addTotp'>;
  hadCodes: boolean;
  onClose: () => void;
}): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const [codes, setCodes] = useState<readonly string[]>();
  const isDone = codes !== undefined;
  return (
    <Dialog isOpen onClose={onClose} title={isDone ? texts.codesTitle : texts.addTotp} canDismiss={!isDone}>
      {isDone ? (
        <RecoveryCodes codes={codes} isReplacement={hadCodes} onDone={onClose} />
      ) : (
        <ConfirmForm added={added} onConfirmed={setCodes} onClose={onClose} />
      )}
    </Dialog>
  );
};

const ConfirmForm = ({
  added,
  onConfirmed,
  onClose,
}: {
  added: Answer<'addTotp'>;
  onConfirmed: (codes: readonly string[]) => void;
  onClose: () => void;
}): ReactElement => {
  const { factors: texts, errors } = useI18n().messages;
  const confirm = useApiMutation('confirmTotp', { refreshes: ['listFactors'] });
  const form = useForm({
    initial: { code: '' },
    check: ({ code }) => checkText('code', code, { required: true }),
    submit: async ({ code }) => {
      const { recovery_codes } = await confirm.mutateAsync({ params: { factor_id: added.id }, body: { code } });
      onConfirmed(recovery_codes);
    },
    faultFor: ({ code }) => (code === 'wrong_code' ? fault('code', errors.next.wrong_code) : undefined),
  });
  return (
    <Form form={form} label={texts.addTotp}>
      <div className="stack">
        <p>{texts.totpScan}</p>
        <Suspense fallback={<Loading lines={4} />}>
          <QrCode text={added.otpauth_url} label={texts.totpQr} />
        </Suspense>
      </div>
      <Secret label={texts.totpSecret} text={texts.totpSecretText} value={added.secret} />
      <TextField
        label={texts.totpCode}
        hint={texts.totpCodeHint}
        inputMode="numeric"
        autoComplete="one-time-code"
        value={form.values.code}
        onChange={(code) => form.set('code', code)}
        fault={form.faultOf('code')}
      />
      <DialogActions onClose={onClose}>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.checking : undefined}>
          {texts.totpConfirm}
        </Button>
      </DialogActions>
    </Form>
  );
};

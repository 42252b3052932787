import { lazy, type ReactElement, Suspense } from 'react';
import { type Answer, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useAccount } from '../session/index.ts';
import { Button, checkText, Form, fault, Loading, Secret, TextField, useForm } from '../ui/index.ts';
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx';

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
  const { email } = useAccount();
  const showOnce = useShowOnce();
  const confirm = useApiMutation('confirmTotp', {
    refreshes: ['listFactors'],
    shows: ({ recovery_codes: codes }) => {
      onClose();
      showOnce((close) => <RecoveryCodesDialog codes={codes} email={email} isReplacement={hadCodes} onClose={close} />);
    },
  });
  const form = useForm({
    initial: { code: '' },
    check: ({ code }) => checkText('code', code, { required: true }),
    submit: async ({ code }) => {
      await confirm.mutateAsync({ params: { factor_id: added.id }, body: { code } });
    },
    faultFor: ({ code }) => (code === 'wrong_code' ? fault('code', texts.totpWrong) : undefined),
  });
  return (
    <Dialog onClose={onClose} title={texts.addTotp}>
      <Form form={form} label={texts.addTotp}>
        <div className="stack">
          <p>{texts.totpScan}</p>
          <Suspense fallback={<Loading lines={4} />}>
            <QrCode text={added.otpauth_url} label={texts.totpQr} />
          </Suspense>
        </div>
        <Secret
          label={texts.totpSecret}
          text={texts.totpSecretText}
          value={added.secret}
          shown={added.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}
        />
        <TextField
          label={texts.totpCode}
          hint={texts.totpCodeHint}
          inputMode="numeric"
          autoComplete="one-time-code"
          value={form.values.code}
          onChange={(code) => form.set('code', code)}
          fault={form.faultOf('code')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.checking : undefined}>
            {texts.totpConfirm}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

import { type ReactElement, useState } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog, Dialog } from '../overlays/index.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

/** Replaces the recovery codes after a confirmation, and shows the new ones. */
export const RenewCodesDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const [codes, setCodes] = useState<readonly string[]>();
  const renew = useApiMutation('renewRecoveryCodes', {
    refreshes: ['listFactors'],
    onDone: ({ recovery_codes }) => setCodes(recovery_codes),
  });
  if (codes !== undefined) {
    return (
      <Dialog isOpen onClose={onClose} title={texts.codesTitle} canDismiss={false}>
        <RecoveryCodes codes={codes} isReplacement onDone={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={texts.renewTitle}
      text={texts.renewText}
      confirmLabel={texts.renew}
      busyLabel={common.working}
      isBusy={renew.isPending}
      error={renew.error}
      onConfirm={() => renew.mutate({})}
    />
  );
};

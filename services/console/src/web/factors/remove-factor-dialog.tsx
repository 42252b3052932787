import type { Factor } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';

/** Removes a second factor after a confirmation. */
export const RemoveFactorDialog = ({
  factor,
  isLast,
  onClose,
}: {
  factor: Factor;
  isLast: boolean;
  onClose: () => void;
}): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deleteFactor', {
    refreshes: ['listFactors'],
    onDone: () => {
      toast(texts.removed(factor.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={texts.removeTitle(factor.name)}
      text={isLast ? texts.removeLastText : texts.removeText}
      confirmLabel={texts.remove}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { factor_id: factor.id } })}
    />
  );
};

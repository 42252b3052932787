import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';

/** Deletes a key after a confirmation. */
export const DeleteKeyDialog = ({
  apiKey,
  onClose,
}: {
  apiKey: ItemOf<'listKeys'>;
  onClose: () => void;
}): ReactElement => {
  const { keys, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deleteKey', {
    refreshes: ['listKeys'],
    onDone: () => {
      toast(keys.deleted(apiKey.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={keys.deleteTitle(apiKey.name)}
      text={keys.deleteText}
      confirmLabel={keys.delete}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { key_id: apiKey.id } })}
    />
  );
};

import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { KeyForm } from './key-form.tsx';
import { toKeySettings, valuesOf } from './key-values.ts';

/** Changes the name, expiry and limits of a key. */
export const ChangeKeyDialog = ({
  apiKey,
  currency,
  onClose,
}: {
  apiKey: ItemOf<'listKeys'>;
  currency: string;
  onClose: () => void;
}): ReactElement => {
  const { messages, locale } = useI18n();
  const { keys, common } = messages;
  const toast = useToast();
  const change = useApiMutation('updateKey', {
    refreshes: ['listKeys'],
    onDone: ({ name }) => {
      toast(keys.changed(name));
      onClose();
    },
  });
  const title = keys.changeTitle(apiKey.name);
  return (
    <Dialog onClose={onClose} title={title}>
      <KeyForm
        draft={`key-${apiKey.id}`}
        label={title}
        initial={valuesOf(apiKey, locale)}
        currency={currency}
        submitLabel={common.save}
        busyLabel={common.working}
        submit={async (values) => {
          await change.mutateAsync({ params: { key_id: apiKey.id }, body: toKeySettings(values, new Date()) });
        }}
      />
    </Dialog>
  );
};

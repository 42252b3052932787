import { type ReactElement, useState } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog } from '../overlays/index.ts';
import { KeyForm } from './key-form.tsx';
import { EMPTY_KEY, toKeySettings } from './key-values.ts';
import { NewSecret } from './new-secret.tsx';

/**
 * Creates a key and shows it once. The dialog then closes only by its button, so that a stray press does not lose the
 * key.
 */
export const CreateKeyDialog = ({ currency, onClose }: { currency: string; onClose: () => void }): ReactElement => {
  const { keys } = useI18n().messages;
  const create = useApiMutation('createKey', { refreshes: ['listKeys'] });
  const [secret, setSecret] = useState<string>();
  const isDone = secret !== undefined;
  return (
    <Dialog isOpen onClose={onClose} title={isDone ? keys.secretTitle : keys.createTitle} canDismiss={!isDone}>
      {isDone ? (
        <NewSecret value={secret} onClose={onClose} />
      ) : (
        <KeyForm
          label={keys.createTitle}
          initial={EMPTY_KEY}
          currency={currency}
          submitLabel={keys.create}
          busyLabel={keys.creating}
          submit={async (values) =>
            setSecret((await create.mutateAsync({ body: toKeySettings(values, new Date()) })).key)
          }
          onClose={onClose}
        />
      )}
    </Dialog>
  );
};

import { type ReactElement, useState } from 'react';
import { type Answer, type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { NewSecret } from './new-secret.tsx';

/** Replaces the secret of a key. The old one stays valid for the chosen time. */
export const RotateKeyDialog = ({
  apiKey,
  onClose,
}: {
  apiKey: ItemOf<'listKeys'>;
  onClose: () => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { keys, overlap } = messages;
  const [rotated, setRotated] = useState<Answer<'rotateKey'>>();
  const rotate = useApiMutation('rotateKey', { refreshes: ['listKeys'], onDone: setRotated });
  if (rotated === undefined) {
    return (
      <RotateDialog
        title={keys.rotateTitle(apiKey.name)}
        text={keys.rotateText}
        rotation={rotate}
        onConfirm={(chosen) =>
          rotate.mutate({ params: { key_id: apiKey.id }, body: { overlap_seconds: OVERLAP_SECONDS[chosen] } })
        }
        onClose={onClose}
      />
    );
  }
  const until = rotated.previous_expires_at;
  return (
    <Dialog isOpen onClose={onClose} title={keys.secretTitle} canDismiss={false}>
      <NewSecret
        value={rotated.key}
        note={until === null ? overlap.ended : overlap.until(formats.dateTime(until))}
        onClose={onClose}
      />
    </Dialog>
  );
};

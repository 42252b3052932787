import type { App } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard/index.ts';
import { OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { Button, Card } from '../ui/index.ts';
import { ClientSecretDialog } from './client-secret-dialog.tsx';

/** Replaces the client secret, which is never shown again. */
export const SecretCard = ({ app }: { app: App }): ReactElement => {
  const { messages, formats } = useI18n();
  const { apps } = messages;
  const [isAsking, setAsking] = useState(false);
  if (app.client_type === 'public') return <Card title={apps.secret} lead={apps.noSecret} />;
  return (
    <Card
      title={apps.secret}
      lead={apps.secretNote}
      actions={
        <Permitted to="rotateAppSecret">
          <Button onClick={() => setAsking(true)}>{apps.rotate}</Button>
        </Permitted>
      }
    >
      {app.secret_rotated_at !== null && (
        <p className="hint">{apps.secretRotated(formats.date(app.secret_rotated_at))}</p>
      )}
      {isAsking && <RotateSecretDialog app={app} onClose={() => setAsking(false)} />}
    </Card>
  );
};

const RotateSecretDialog = ({ app, onClose }: { app: App; onClose: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { apps, overlap: overlapTexts } = messages;
  const showOnce = useShowOnce();
  const rotate = useApiMutation('rotateAppSecret', {
    refreshes: ['listApps'],
    shows: ({ client_secret, previous_secret_expires_at: until }) => {
      onClose();
      const note = until === null ? overlapTexts.ended : overlapTexts.until(formats.dateTime(until));
      showOnce((close) => <ClientSecretDialog value={client_secret} note={note} onClose={close} />);
    },
  });
  return (
    <RotateDialog
      title={apps.rotateTitle}
      text={apps.rotateText}
      rotation={rotate}
      onConfirm={(overlap) =>
        rotate.mutate({ params: { client_id: app.client_id }, body: { overlap_seconds: OVERLAP_SECONDS[overlap] } })
      }
      onClose={onClose}
    />
  );
};

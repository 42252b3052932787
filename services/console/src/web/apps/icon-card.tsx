import type { App } from '@svc/contracts';
import { type ReactElement, useId, useState } from 'react';
import { ApiError, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { AppIcon, Card, ErrorNotice, Notice } from '../ui/index.ts';

const ICON_BYTES_MAX = 256 * 1024;

/** Edits the icon that users see beside the app's name. */
export const IconCard = ({ app }: { app: App }): ReactElement => {
  const { apps } = useI18n().messages;
  const toast = useToast();
  const id = useId();
  const [isTooLarge, setTooLarge] = useState(false);
  const upload = useApiMutation('putAppIcon', {
    refreshes: ['getAppIcon'],
    onDone: () => toast(apps.iconSaved),
  });
  const choose = (file: File | undefined): void => {
    if (file === undefined) return;
    setTooLarge(file.size > ICON_BYTES_MAX);
    if (file.size > ICON_BYTES_MAX) return;
    upload.mutate({ params: { client_id: app.client_id }, file });
  };
  const isRefusedAsTooLarge = upload.error instanceof ApiError && upload.error.status === 413;
  return (
    <Card title={apps.icon} lead={apps.iconHint}>
      <div className="icon-row">
        <AppIcon clientId={app.client_id} large />
        <div>
          <input
            id={id}
            className="file-input"
            type="file"
            accept="image/png,image/jpeg,image/webp"
            disabled={upload.isPending}
            onChange={(event) => {
              choose(event.currentTarget.files?.[0]);
              // Allows choosing the same file again after it was corrected.
              event.currentTarget.value = '';
            }}
          />
          <label htmlFor={id} className="button button-secondary">
            {upload.isPending && <span className="spinner" aria-hidden="true" />}
            {upload.isPending ? apps.uploadingIcon : apps.uploadIcon}
          </label>
        </div>
      </div>
      {(isTooLarge || isRefusedAsTooLarge) && <Notice tone="bad">{apps.iconTooLarge}</Notice>}
      {upload.isError && !isRefusedAsTooLarge && <ErrorNotice error={upload.error} />}
    </Card>
  );
};

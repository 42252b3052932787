import type { App } from '@svc/contracts';
import { type ReactElement, useId, useState } from 'react';
import { Permitted, useMay } from '../access/index.ts';
import { ApiError, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { AppIcon, Button, Card, ErrorNotice, Facts, Form, Notice, Time, useForm } from '../ui/index.ts';
import { AppFields } from './app-fields.tsx';
import { AppFrame } from './app-frame.tsx';
import { type AppValues, checkApp, toFields, toValues } from './app-values.ts';
import { ClientSecretDialog } from './client-credentials.tsx';
import { DangerCard } from './danger-card.tsx';

/** Replaces the client secret, which is never shown again. */
const SecretCard = ({ app }: { app: App }): ReactElement => {
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

const ICON_BYTES_MAX = 256 * 1024;

/** Edits the icon that users see beside the app's name. */
const IconCard = ({ app }: { app: App }): ReactElement => {
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

/** Shows all settings of an app except its webhook. */
export const AppSettingsPage = (): ReactElement => (
  <AppFrame>
    {(app) => (
      // Resets the form for another app.
      <div className="stack" key={app.client_id}>
        <SettingsCard app={app} />
        <Permitted to="putAppIcon">
          <IconCard app={app} />
        </Permitted>
        <SecretCard app={app} />
        <Permitted to="updateApp">
          <DangerCard app={app} />
        </Permitted>
      </div>
    )}
  </AppFrame>
);

const SettingsCard = ({ app }: { app: App }): ReactElement => {
  const { apps, common } = useI18n().messages;
  const toast = useToast();
  const update = useApiMutation('updateApp', { refreshes: ['listApps', 'getAppIcon'] });
  const form = useForm<AppValues>({
    draft: `app-${app.client_id}`,
    initial: toValues(app),
    check: checkApp,
    submit: async (values) => {
      const body = { active: app.active, ...toFields(values) };
      const saved = await update.mutateAsync({ params: { client_id: app.client_id }, body });
      form.reset(toValues(saved));
      toast(apps.saved);
    },
  });
  const may = useMay();
  return (
    <Card title={apps.settings}>
      <Form form={form} label={apps.settings}>
        <fieldset className="stack" disabled={!may('updateApp')}>
          <legend className="visually-hidden">{apps.settings}</legend>
          <AppFields form={form} />
        </fieldset>
        <Permitted to="updateApp">
          <div className="actions">
            <Button type="submit" variant="primary" busyLabel={form.isBusy ? apps.saving : undefined}>
              {common.save}
            </Button>
          </div>
        </Permitted>
      </Form>
      <Facts
        items={[
          [apps.created, <Time key="created" at={app.created_at} exact />],
          [apps.updated, <Time key="updated" at={app.updated_at} exact />],
        ]}
      />
    </Card>
  );
};

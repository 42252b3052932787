import type { App } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Permitted, useMay } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, Facts, Form, Time, useForm } from '../ui/index.ts';
import { AppFields } from './app-fields.tsx';
import { AppFrame } from './app-frame.tsx';
import { type AppValues, checkApp, toFields, toValues } from './app-values.ts';
import { DangerCard } from './danger-card.tsx';
import { IconCard } from './icon-card.tsx';
import { SecretCard } from './secret-card.tsx';

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

import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { useToast } from '../toasts/index.ts';
import { Button, ChoiceField, Form, Page, useForm } from '../ui/index.ts';
import { AppFields } from './app-fields.tsx';
import { type AppValues, checkApp, EMPTY_APP, toFields } from './app-values.ts';
import { ClientSecretDialog } from './client-credentials.tsx';

interface RegisterValues extends AppValues {
  readonly client_type: 'confidential' | 'public';
}

const PATH = '/apps/new';

/** Registers an app, shows its secret once, and continues on the app's page. */
export const RegisterAppPage = (): ReactElement => {
  const { apps } = useI18n().messages;
  const toast = useToast();
  const showOnce = useShowOnce();
  const [, navigate] = useLocation();
  const register = useApiMutation('registerApp', {
    refreshes: ['listApps'],
    shows: ({ client_id, client_secret, name }) => {
      const title = apps.registeredTitle(name);
      if (client_secret === undefined) toast(`${title}. ${apps.registeredPublic}`);
      else {
        showOnce((close) => (
          <ClientSecretDialog title={title} clientId={client_id} value={client_secret} onClose={close} />
        ));
      }
    },
    onDone: ({ client_id }) => {
      // Unless the person has gone elsewhere meanwhile.
      if (window.location.pathname.endsWith(PATH)) navigate(`/apps/${client_id}`, { replace: true });
    },
  });
  const form = useForm<RegisterValues>({
    draft: 'new-app',
    initial: { ...EMPTY_APP, client_type: 'confidential' },
    check: checkApp,
    submit: async (values) => {
      await register.mutateAsync({ body: { ...toFields(values), client_type: values.client_type } });
    },
  });
  return (
    <Page title={apps.registerTitle} lead={apps.registerLead}>
      <div className="card">
        <Form form={form} label={apps.registerTitle}>
          <ChoiceField
            label={apps.type}
            value={form.values.client_type}
            onChange={(type) => form.set('client_type', type)}
            options={[
              { value: 'confidential', label: apps.types.confidential, hint: apps.typeHints.confidential },
              { value: 'public', label: apps.types.public, hint: apps.typeHints.public },
            ]}
          />
          <AppFields form={form} />
          <div className="actions">
            <Button type="submit" variant="primary" busyLabel={form.isBusy ? apps.registering : undefined}>
              {apps.register}
            </Button>
          </div>
        </Form>
      </div>
    </Page>
  );
};

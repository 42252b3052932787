import { type ReactElement, useState } from 'react';
import { type Answer, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, ButtonLink, ChoiceField, Form, Notice, Page, Secret, useForm } from '../ui/index.ts';
import { AppFields } from './app-fields.tsx';
import { type AppValues, checkApp, EMPTY_APP, toFields } from './app-values.ts';
import { ClientId } from './client-id.tsx';

type Registered = Answer<'registerApp'>;

interface RegisterValues extends AppValues {
  readonly client_type: 'confidential' | 'public';
}

/** Registers an app, and shows its secret once. */
export const RegisterAppPage = (): ReactElement => {
  const [registered, setRegistered] = useState<Registered>();
  return registered === undefined ? <RegisterForm onRegistered={setRegistered} /> : <RegisteredApp app={registered} />;
};

const RegisterForm = ({ onRegistered }: { onRegistered: (app: Registered) => void }): ReactElement => {
  const { apps } = useI18n().messages;
  const register = useApiMutation('registerApp', { refreshes: ['listApps'] });
  const form = useForm<RegisterValues>({
    initial: { ...EMPTY_APP, client_type: 'confidential' },
    check: checkApp,
    submit: async (values) =>
      onRegistered(await register.mutateAsync({ body: { ...toFields(values), client_type: values.client_type } })),
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

const RegisteredApp = ({ app }: { app: Registered }): ReactElement => {
  const { apps } = useI18n().messages;
  return (
    <Page title={apps.registeredTitle(app.name)}>
      <div className="card">
        <ClientId id={app.client_id} />
        {app.client_secret === undefined ? (
          <Notice>{apps.registeredPublic}</Notice>
        ) : (
          <Secret label={apps.secretLabel} text={apps.secretText} value={app.client_secret} />
        )}
      </div>
      <div className="actions">
        <ButtonLink to={`/apps/${app.client_id}`} variant="primary">
          {app.client_secret === undefined ? apps.toApp : apps.secretDone}
        </ButtonLink>
      </div>
    </Page>
  );
};

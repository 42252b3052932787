import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, type FormState, Icon, More, SelectField, TextArea, TextField } from '../ui/index.ts';
import { type AppValues, REDIRECT_URIS_MAX } from './app-values.ts';

/** Part of a form that these fields read and write. */
type Form = Pick<FormState<AppValues>, 'values' | 'set' | 'faultOf'>;

/** Renders the fields of an app, for registration and changes. */
export const AppFields = ({ form }: { form: Form }): ReactElement => {
  const { apps } = useI18n().messages;
  const { values, set, faultOf } = form;
  return (
    <>
      <TextField
        label={apps.name}
        hint={apps.nameHint}
        autoComplete="off"
        value={values.name}
        onChange={(name) => set('name', name)}
        fault={faultOf('name')}
      />
      <RedirectUris form={form} />
      <TextArea
        label={apps.description}
        optional
        value={values.description}
        onChange={(description) => set('description', description)}
        fault={faultOf('description')}
      />
      <div className="field-pair">
        <TextField
          label={apps.homepage}
          optional
          type="url"
          placeholder="https://"
          autoComplete="off"
          value={values.homepage_url}
          onChange={(url) => set('homepage_url', url)}
          fault={faultOf('homepage_url')}
        />
        <TextField
          label={apps.privacyPolicy}
          optional
          type="url"
          placeholder="https://"
          autoComplete="off"
          value={values.privacy_policy_url}
          onChange={(url) => set('privacy_policy_url', url)}
          fault={faultOf('privacy_policy_url')}
        />
      </div>
      <More label={apps.advanced} hasFault={faultOf('refresh_grace_seconds') !== undefined}>
        <TextField
          label={apps.grace}
          hint={apps.graceHint}
          inputMode="numeric"
          autoComplete="off"
          value={values.refresh_grace_seconds}
          onChange={(seconds) => set('refresh_grace_seconds', seconds)}
          fault={faultOf('refresh_grace_seconds')}
        />
        <SelectField
          label={apps.deviceFlow}
          hint={apps.deviceFlowHint}
          value={values.device_flow}
          onChange={(state) => set('device_flow', state)}
          options={[
            { value: 'off', label: apps.deviceFlowStates.off },
            { value: 'on', label: apps.deviceFlowStates.on },
          ]}
        />
      </More>
    </>
  );
};

const RedirectUris = ({ form }: { form: Form }): ReactElement => {
  const { apps } = useI18n().messages;
  const { values, set, faultOf } = form;
  const uris = values.redirect_uris;
  const change = (index: number, uri: string): void => set('redirect_uris', uris.with(index, uri));
  return (
    <fieldset className="group">
      <legend>{apps.redirectUris}</legend>
      <p className="hint">{apps.redirectUrisHint}</p>
      {uris.map((uri, index) => (
        // Lines are identified by their position: two may hold the same text while the person types.
        <div key={index} className="line">
          <TextField
            label={apps.redirectUri(index + 1)}
            labelHidden
            type="url"
            placeholder="https://example.com/callback"
            autoComplete="off"
            value={uri}
            onChange={(next) => change(index, next)}
            fault={faultOf(`redirect_uris.${index}`)}
          />
          {uris.length > 1 && (
            <button
              type="button"
              className="icon-button"
              aria-label={apps.removeRedirectUri(index + 1)}
              onClick={() => set('redirect_uris', uris.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      ))}
      {uris.length < REDIRECT_URIS_MAX && (
        <Button small icon="plus" onClick={() => set('redirect_uris', [...uris, ''])}>
          {apps.addRedirectUri}
        </Button>
      )}
    </fieldset>
  );
};

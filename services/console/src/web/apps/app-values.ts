import type { App, ValidationIssue } from '@svc/contracts';
import type { Input } from '../api/index.ts';
import { checkInteger, checkText } from '../ui/index.ts';

/** Fields of an app, as typed. */
export interface AppValues {
  readonly name: string;
  readonly description: string;
  readonly redirect_uris: readonly string[];
  readonly homepage_url: string;
  readonly privacy_policy_url: string;
  readonly refresh_grace_seconds: string;
  readonly device_flow: 'on' | 'off';
}

const GRACE_SECONDS_MAX = 120;
const URL_CHARACTERS_MAX = 2048;

/** Maximum redirect URIs of one app. */
export const REDIRECT_URIS_MAX = 10;

/** The form of a new app. */
export const EMPTY_APP: AppValues = {
  name: '',
  description: '',
  redirect_uris: [''],
  homepage_url: '',
  privacy_policy_url: '',
  refresh_grace_seconds: '30',
  device_flow: 'off',
};

/** Returns the form of an existing app. */
export const toValues = (app: App): AppValues => ({
  name: app.name,
  description: app.description ?? '',
  redirect_uris: app.redirect_uris,
  homepage_url: app.homepage_url ?? '',
  privacy_policy_url: app.privacy_policy_url ?? '',
  refresh_grace_seconds: String(app.refresh_grace_seconds),
  device_flow: app.device_flow ? 'on' : 'off',
});

/** Returns the faults that need no service. The service checks the format of redirect URIs. */
export const checkApp = (values: AppValues): ValidationIssue[] => [
  ...checkText('name', values.name, { required: true, max: 80 }),
  ...checkText('description', values.description, { max: 500 }),
  ...values.redirect_uris.flatMap((uri, index) =>
    checkText(`redirect_uris.${index}`, uri, { required: true, max: URL_CHARACTERS_MAX }),
  ),
  ...checkText('homepage_url', values.homepage_url, { max: URL_CHARACTERS_MAX }),
  ...checkText('privacy_policy_url', values.privacy_policy_url, { max: URL_CHARACTERS_MAX }),
  ...checkText('refresh_grace_seconds', values.refresh_grace_seconds, { required: true }),
  ...checkInteger('refresh_grace_seconds', values.refresh_grace_seconds, { min: 0, max: GRACE_SECONDS_MAX }),
];

/** Converts the form to the fields of a request. Empty fields are removed. */
export const toFields = (values: AppValues): Omit<Input<'registerApp'>['body'], 'client_type'> => ({
  name: values.name.trim(),
  description: orNull(values.description),
  redirect_uris: values.redirect_uris.map((uri) => uri.trim()),
  homepage_url: orNull(values.homepage_url),
  privacy_policy_url: orNull(values.privacy_policy_url),
  refresh_grace_seconds: Number(values.refresh_grace_seconds),
  device_flow: values.device_flow === 'on',
});

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

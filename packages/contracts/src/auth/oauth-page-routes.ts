import { z } from 'zod';
import { defineRoute, formBody, page } from '../core/route.ts';
import { devicePageQuerySchema } from './oauth.ts';

const oauthTag = { service: 'auth', errorShape: 'detail', tag: 'OAuth' } as const;
const refusedForm = { 400: { description: 'A page that explains why the form was refused.', ...page } } as const;
const deviceForm = {
  ...oauthTag,
  method: 'POST',
  caller: 'oauth_public',
  description: 'A form of the page that people open to connect a device. Not for apps.',
  request: { body: formBody(z.object({})) },
  errors: [],
} as const;
const devicePage = {
  200: { description: 'The page.', ...page },
  303: { description: 'To the sign-in page.' },
  400: { description: 'The page, with what is wrong with the code or the form.', ...page },
  429: { description: 'A page that says when codes are accepted again.', ...page },
} as const;

/** Pages on which people connect a device (RFC 8628 section 3.3). */
export const deviceRoutes = {
  showDevicePage: defineRoute({
    ...oauthTag,
    operationId: 'showDevicePage',
    method: 'GET',
    path: '/v1/integrations/oauth/device',
    caller: 'oauth_public',
    summary: 'Show the page on which people enter the code of a device (RFC 8628 section 3.3)',
    description:
      'Asks to sign in first. A code in the address is shown and has to be confirmed. After twenty wrong codes from a source within ten minutes, or five thousand from all, every code is refused until they are over.',
    request: { query: devicePageQuerySchema },
    responses: devicePage,
    errors: [],
  }),
  submitDeviceCode: defineRoute({
    ...deviceForm,
    operationId: 'submitDeviceCode',
    path: '/v1/integrations/oauth/device',
    summary: 'Submit the device page: enter or confirm the code',
    responses: devicePage,
  }),
  submitDeviceDecision: defineRoute({
    ...deviceForm,
    operationId: 'submitDeviceDecision',
    path: '/v1/integrations/oauth/device/decision',
    summary: 'Submit the device page: approve or deny',
    responses: { ...devicePage, 503: { description: 'A page that explains that nothing has changed.', ...page } },
  }),
  submitDeviceSignOut: defineRoute({
    ...deviceForm,
    operationId: 'submitDeviceSignOut',
    path: '/v1/integrations/oauth/device/sign-out',
    summary: 'Submit the device page: switch account',
    responses: { 303: { description: 'To the sign-in page.' }, ...refusedForm },
  }),
} as const;

/** A form of the authorize page. */
const pageForm = {
  ...oauthTag,
  method: 'POST',
  caller: 'oauth_public',
  description: 'A form of the page that the authorize endpoint shows. Not for apps.',
  request: { body: formBody(z.object({})) },
  errors: [],
} as const;

const backOrAgain = {
  303: { description: 'Back to the authorize page.' },
  200: { description: 'The page again, with the errors.', ...page },
  ...refusedForm,
} as const;

/** Forms of the authorize page, for browsers. */
export const interactionRoutes = {
  submitSignIn: defineRoute({
    ...pageForm,
    operationId: 'submitSignIn',
    path: '/v1/integrations/oauth/interaction/sign-in',
    summary: 'Submit the authorize page: sign in',
    responses: backOrAgain,
  }),
  submitSecondFactor: defineRoute({
    ...pageForm,
    operationId: 'submitSecondFactor',
    path: '/v1/integrations/oauth/interaction/second-factor',
    summary: 'Submit the authorize page: second factor',
    responses: backOrAgain,
  }),
  submitPasskey: defineRoute({
    ...pageForm,
    operationId: 'submitPasskey',
    path: '/v1/integrations/oauth/interaction/passkey',
    summary: 'Submit the authorize page: sign in with a passkey',
    responses: backOrAgain,
  }),
  submitSignUp: defineRoute({
    ...pageForm,
    operationId: 'submitSignUp',
    path: '/v1/integrations/oauth/interaction/sign-up',
    summary: 'Submit the authorize page: sign up',
    responses: backOrAgain,
  }),
  submitSignOut: defineRoute({
    ...pageForm,
    operationId: 'submitSignOut',
    path: '/v1/integrations/oauth/interaction/sign-out',
    summary: 'Submit the authorize page: switch account',
    responses: { 303: { description: 'Back to the authorize page.' }, ...refusedForm },
  }),
  submitDecision: defineRoute({
    ...pageForm,
    operationId: 'submitDecision',
    path: '/v1/integrations/oauth/interaction/decision',
    summary: 'Submit the authorize page: approve or deny',
    responses: {
      303: { description: "To the app's redirect URI, or back to the authorize page." },
      200: { description: 'The page again, with the errors.', ...page },
      503: { description: 'A page that explains that nothing has changed.', ...page },
      ...refusedForm,
    },
  }),
} as const;

import { z } from 'zod';
import { ICON_BYTES_MAX } from '../core/limits.ts';
import { listOf, pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json, jsonBody, optionalJsonBody } from '../core/route.ts';
import {
  accountSchema,
  changeEmailRequestSchema,
  changePasswordRequestSchema,
  createAccountRequestSchema,
  createSessionRequestSchema,
  deviceHeaders,
  sessionCreatedSchema,
  sessionSchema,
  ssoStatusSchema,
  startSsoQuerySchema,
} from './accounts.ts';
import {
  appRegisteredSchema,
  appSchema,
  clientIdParams,
  registerAppRequestSchema,
  rotateSecretRequestSchema,
  secretRotatedSchema,
  updateAppRequestSchema,
} from './apps.ts';
import { connectionAuditEntrySchema, connectionSchema } from './connections.ts';
import { interactionRoutes, oauthRoutes } from './oauth-routes.ts';

const service = 'auth' as const;
const detail = { service, errorShape: 'detail' } as const;
const accounts = { ...detail, tag: 'Accounts' } as const;
const apps = { ...detail, tag: 'Apps', caller: 'console_session', business: true } as const;
const connections = { ...detail, tag: 'Connections', caller: 'console_session' } as const;

/** Accounts and console sessions. */
const accountRoutes = {
  createAccount: defineRoute({
    ...accounts,
    operationId: 'createAccount',
    method: 'POST',
    path: '/v1/console/accounts',
    caller: 'public',
    summary: 'Sign up',
    request: { body: jsonBody(createAccountRequestSchema) },
    responses: { 201: json('The new account.', z.object({ account: accountSchema })) },
    errors: ['email_taken', 'too_many_attempts'],
  }),
  createSession: defineRoute({
    ...accounts,
    operationId: 'createSession',
    method: 'POST',
    path: '/v1/console/sessions',
    caller: 'public',
    summary: 'Sign in',
    description:
      'A device that has signed in to the account before has a budget of failures of its own, which no stranger can use up: send its last `device_token` in `X-Svc-Device`. Browsers send it by cookie.',
    request: { headers: deviceHeaders, body: jsonBody(createSessionRequestSchema) },
    responses: { 201: json('A console session.', sessionCreatedSchema) },
    errors: ['invalid_credentials', 'too_many_attempts'],
  }),
  getSession: defineRoute({
    ...accounts,
    operationId: 'getSession',
    method: 'GET',
    path: '/v1/console/session',
    caller: 'console_session',
    summary: 'Who is signed in',
    request: {},
    responses: { 200: json('The session.', sessionSchema) },
    errors: [],
  }),
  deleteSession: defineRoute({
    ...accounts,
    operationId: 'deleteSession',
    method: 'DELETE',
    path: '/v1/console/session',
    caller: 'console_session',
    summary: 'Sign out',
    description: 'The token stops working in every service.',
    request: {},
    responses: { 204: { description: 'Signed out.' } },
    errors: [],
  }),
  resumeSession: defineRoute({
    ...accounts,
    operationId: 'resumeSession',
    method: 'POST',
    path: '/v1/console/session/resume',
    caller: 'public',
    summary: "The console's own: its session again, after a reload",
    description:
      'Reads the HttpOnly cookie that sign-in has set, so that no script need keep a token. Answers no other origin.',
    request: {},
    responses: { 200: json('The same session, with a token for it.', sessionCreatedSchema) },
    errors: ['not_authenticated', 'invalid_token'],
  }),
  changePassword: defineRoute({
    ...accounts,
    operationId: 'changePassword',
    method: 'POST',
    path: '/v1/console/account/password',
    caller: 'console_session',
    summary: 'Change the password',
    description:
      'Ends every session of the account, this one included, and answers a new one. With `revoke_access`, connections and API keys end too.',
    request: { headers: deviceHeaders, body: jsonBody(changePasswordRequestSchema) },
    responses: { 200: json('A new console session.', sessionCreatedSchema) },
    errors: ['wrong_password', 'fresh_sign_in_required', 'too_many_attempts'],
  }),
  changeEmail: defineRoute({
    ...accounts,
    operationId: 'changeEmail',
    method: 'POST',
    path: '/v1/console/account/email',
    caller: 'console_session',
    summary: 'Change the address',
    description: 'Ends every session of the account, this one too; the answer is a new one.',
    request: { headers: deviceHeaders, body: jsonBody(changeEmailRequestSchema) },
    responses: { 200: json('A new console session.', sessionCreatedSchema) },
    errors: ['wrong_password', 'fresh_sign_in_required', 'email_taken', 'too_many_attempts'],
  }),
  getSso: defineRoute({
    ...accounts,
    operationId: 'getSso',
    method: 'GET',
    path: '/v1/console/sso',
    caller: 'public',
    summary: 'Whether single sign-on is there',
    request: {},
    responses: { 200: json('Whether, and with whom.', ssoStatusSchema) },
    errors: [],
  }),
  startSso: defineRoute({
    ...accounts,
    operationId: 'startSso',
    method: 'GET',
    path: '/v1/console/sso/start',
    caller: 'public',
    summary: 'Sign in with the configured OpenID provider',
    request: { query: startSsoQuerySchema },
    responses: { 303: { description: 'To the OpenID provider.' } },
    errors: ['sso_not_configured', 'sso_failed'],
  }),
  finishSso: defineRoute({
    ...accounts,
    operationId: 'finishSso',
    method: 'GET',
    path: '/v1/console/sso/callback',
    caller: 'public',
    summary: 'Return from the configured OpenID provider',
    description: 'Sets the same cookies as sign-in. Somebody who gave up at the provider is sent back without them.',
    request: {},
    responses: { 303: { description: 'To `return_to`, or to the console.' } },
    errors: ['sso_not_configured', 'sso_failed'],
  }),
} as const;

/** Management of registered apps. */
const appRoutes = {
  listApps: defineRoute({
    ...apps,
    operationId: 'listApps',
    method: 'GET',
    path: '/v1/integrations/apps',
    summary: 'List apps',
    request: {},
    responses: { 200: json('The apps of this account.', listOf(appSchema)) },
    errors: [],
  }),
  registerApp: defineRoute({
    ...apps,
    operationId: 'registerApp',
    method: 'POST',
    path: '/v1/integrations/apps',
    summary: 'Register an app',
    request: { body: jsonBody(registerAppRequestSchema) },
    responses: { 201: json('The app, with its secret this once.', appRegisteredSchema) },
    errors: [],
  }),
  updateApp: defineRoute({
    ...apps,
    operationId: 'updateApp',
    method: 'PATCH',
    path: '/v1/integrations/apps/{client_id}',
    summary: 'Activate, deactivate or change an app',
    request: { params: clientIdParams, body: jsonBody(updateAppRequestSchema) },
    responses: { 200: json('The app.', appSchema) },
    errors: [],
  }),
  deleteApp: defineRoute({
    ...apps,
    operationId: 'deleteApp',
    method: 'DELETE',
    path: '/v1/integrations/apps/{client_id}',
    summary: 'Delete an app',
    request: { params: clientIdParams },
    responses: { 204: { description: 'Deleted.' } },
    errors: [],
  }),
  rotateAppSecret: defineRoute({
    ...apps,
    operationId: 'rotateAppSecret',
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/rotate-secret',
    summary: 'Rotate the client secret',
    request: { params: clientIdParams, body: optionalJsonBody(rotateSecretRequestSchema) },
    responses: { 200: json('The new secret, this once.', secretRotatedSchema) },
    errors: ['public_client_has_no_secret'],
  }),
  getAppIcon: defineRoute({
    ...connections,
    tag: 'Apps',
    operationId: 'getAppIcon',
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/icon',
    summary: 'The icon of an app',
    description: 'For any signed-in user: consent and connection lists show it.',
    request: { params: clientIdParams },
    responses: {
      200: {
        description: 'The stored image, or a generated SVG monogram.',
        contentType: 'image/*',
        schema: z.string(),
      },
    },
    errors: [],
  }),
  putAppIcon: defineRoute({
    ...apps,
    operationId: 'putAppIcon',
    method: 'PUT',
    path: '/v1/integrations/apps/{client_id}/icon',
    summary: 'Store an icon (PNG, JPEG or WebP, at most 256 KiB)',
    description: 'The bytes decide what it is, whatever `content-type` says.',
    request: {
      params: clientIdParams,
      body: { contentType: '*/*', schema: z.string(), required: true, bytesMax: ICON_BYTES_MAX, raw: true },
    },
    responses: { 204: { description: 'Stored.' } },
    errors: [],
  }),
} as const;

/** Connections of a user. */
const connectionRoutes = {
  listConnections: defineRoute({
    ...connections,
    operationId: 'listConnections',
    method: 'GET',
    path: '/v1/integrations/connections',
    summary: 'List connected apps',
    request: {},
    responses: { 200: json("The user's connections.", listOf(connectionSchema)) },
    errors: [],
  }),
  deleteConnection: defineRoute({
    ...connections,
    operationId: 'deleteConnection',
    method: 'DELETE',
    path: '/v1/integrations/connections/{client_id}',
    summary: 'Disconnect an app',
    request: { params: clientIdParams },
    responses: { 204: { description: 'Disconnected.' } },
    errors: [],
  }),
  listConnectionAudit: defineRoute({
    ...connections,
    operationId: 'listConnectionAudit',
    method: 'GET',
    path: '/v1/integrations/connections/{client_id}/audit',
    summary: 'What happened to a connection',
    description: 'Newest first, for as long as 400 days; also of an app that is no longer connected.',
    request: { params: clientIdParams, query: z.object(pageQuery) },
    responses: { 200: json('A page of the audit trail.', pageOf(connectionAuditEntrySchema)) },
    errors: [],
  }),
} as const;

/** The discovery document of the whole API. */
const documentRoutes = {
  getOpenapiDocument: defineRoute({
    ...detail,
    tag: 'Documents',
    operationId: 'getOpenapiDocument',
    method: 'GET',
    path: '/v1/openapi.json',
    caller: 'public',
    summary: 'This API as an OpenAPI 3.1 document',
    request: {},
    responses: { 200: json('The document.', z.looseObject({ openapi: z.string() })) },
    errors: [],
  }),
} as const;

/** Public routes of the auth service. */
export const authRoutes = {
  ...accountRoutes,
  ...oauthRoutes,
  ...interactionRoutes,
  ...appRoutes,
  ...connectionRoutes,
  ...documentRoutes,
} as const;

import { z } from 'zod';
import { created, defineRoute, json, jsonBody, optionalJsonBody, page } from '../core/route.ts';
import { accountLifeRoutes } from './account-routes.ts';
import {
  accountSchema,
  changePasswordRequestSchema,
  createAccountRequestSchema,
  createSessionRequestSchema,
  deviceHeaders,
  linkSsoRequestSchema,
  sessionCreatedSchema,
  sessionSchema,
  ssoLinkStartedSchema,
  ssoStatusSchema,
  startSsoQuerySchema,
} from './accounts.ts';
import { appReportRoutes, appRoutes, connectionRoutes } from './app-routes.ts';
import { factorRoutes } from './factor-routes.ts';
import { managementKeyRoutes } from './management-keys.ts';
import { deviceRoutes, interactionRoutes } from './oauth-page-routes.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { organizationRoutes } from './organization-routes.ts';
import { publisherRoutes } from './publishers.ts';
import { signInRoutes } from './sign-in-routes.ts';

const detail = { service: 'auth', errorShape: 'detail' } as const;
const accounts = { ...detail, tag: 'Accounts' } as const;
const sessions = { ...detail, tag: 'Sessions' } as const;

/** Routes of accounts and console sessions. */
const accountRoutes = {
  createAccount: defineRoute({
    ...accounts,
    operationId: 'createAccount',
    method: 'POST',
    path: '/v1/console/accounts',
    caller: 'public',
    summary: 'Sign up',
    description: 'The service mails a link that confirms the address. Sign in afterwards.',
    request: { body: jsonBody(createAccountRequestSchema) },
    responses: { 201: created('The new account.', z.object({ account: accountSchema }), '/v1/console/account') },
    errors: ['email_taken', 'too_many_attempts'],
  }),
  createSession: defineRoute({
    ...sessions,
    operationId: 'createSession',
    method: 'POST',
    path: '/v1/console/sessions',
    caller: 'public',
    summary: 'Sign in',
    description:
      'A device that has signed in to the account before has its own limit of failed attempts, which strangers cannot use up. Send its last `device_token` in `X-Svc-Device`; browsers send it as a cookie.',
    request: { headers: deviceHeaders, body: jsonBody(createSessionRequestSchema) },
    responses: { 201: created('A console session.', sessionCreatedSchema, '/v1/console/session') },
    errors: ['invalid_credentials', 'second_factor_required', 'too_many_attempts', 'account_deletion_pending'],
  }),
  getSession: defineRoute({
    ...sessions,
    operationId: 'getSession',
    role: 'person',
    method: 'GET',
    path: '/v1/console/session',
    caller: 'console_session',
    managementScope: null,
    summary: 'Get the current session',
    description: 'Returns the account of the session and the time at which the session ends.',
    request: {},
    responses: { 200: json('The session.', sessionSchema) },
    errors: [],
  }),
  deleteSession: defineRoute({
    ...sessions,
    operationId: 'deleteSession',
    role: 'person',
    audit: null,
    method: 'DELETE',
    path: '/v1/console/session',
    caller: 'console_session',
    managementScope: null,
    summary: 'Sign out',
    description: 'The token stops working in every service.',
    request: {},
    responses: { 204: { description: 'Signed out.' } },
    errors: [],
  }),
  resumeSession: defineRoute({
    ...sessions,
    operationId: 'resumeSession',
    method: 'POST',
    path: '/v1/console/session/resume',
    caller: 'public',
    summary: 'Resume the console session after a reload',
    description:
      'For the console only. Reads the HttpOnly cookie set at sign-in, so that no script has to store a token. Refuses other origins.',
    request: {},
    responses: { 200: json('The same session with a new token.', sessionCreatedSchema) },
    errors: ['not_authenticated', 'invalid_token'],
  }),
  changePassword: defineRoute({
    ...accounts,
    operationId: 'changePassword',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/account/password',
    caller: 'console_session',
    managementScope: null,
    summary: 'Change the password',
    description:
      'Ends every session of the account, including this one, and returns a new one. With `revoke_access`, connections and API keys end as well.',
    request: { headers: deviceHeaders, body: jsonBody(changePasswordRequestSchema) },
    responses: { 200: json('A new console session.', sessionCreatedSchema) },
    errors: ['wrong_password', 'fresh_sign_in_required', 'too_many_attempts'],
  }),
  getSso: defineRoute({
    ...sessions,
    operationId: 'getSso',
    method: 'GET',
    path: '/v1/console/sso',
    caller: 'public',
    summary: 'Get the availability of single sign-on',
    description: 'Tells a sign-in page if it should offer single sign-on, and under which name.',
    request: {},
    responses: { 200: json('The availability, and the provider’s name.', ssoStatusSchema) },
    errors: [],
  }),
  startSso: defineRoute({
    ...sessions,
    operationId: 'startSso',
    method: 'GET',
    path: '/v1/console/sso/start',
    caller: 'public',
    summary: 'Sign in with the configured OpenID provider',
    description:
      'Redirects the browser to the provider. Answers 404 where none is configured. With `fresh=true` the provider has to authenticate the person again; without it, sensitive endpoints want another proof.',
    request: { query: startSsoQuerySchema },
    responses: { 303: { description: 'To the OpenID provider.' } },
    errors: ['sso_not_configured', 'sso_failed'],
  }),
  finishSso: defineRoute({
    ...sessions,
    operationId: 'finishSso',
    method: 'GET',
    path: '/v1/console/sso/callback',
    caller: 'public',
    summary: 'Return from the configured OpenID provider',
    description:
      'Sets the same cookies as sign-in. A user who cancelled at the provider is sent back without them. If the account has a second factor, a page asks for it. If the verified address of the identity belongs to an account to which it is not linked, the browser goes to `/sign-in/link`, where the person proves to own the account.',
    request: {},
    responses: {
      200: { description: 'The page for the second factor.', ...page },
      303: { description: 'To `return_to`, or to `/sign-in/link`.' },
    },
    errors: ['sso_not_configured', 'sso_failed', 'account_deletion_pending'],
  }),
  linkSso: defineRoute({
    ...sessions,
    stepUp: true,
    operationId: 'linkSso',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/console/sso/link',
    caller: 'console_session',
    managementScope: null,
    summary: 'Link an identity at the OpenID provider to this account',
    description:
      'Answers with the address to which this browser goes, and sets the cookie that the return needs. The identity then signs in to this account.',
    request: { body: optionalJsonBody(linkSsoRequestSchema) },
    responses: { 200: json('Where to send the browser.', ssoLinkStartedSchema) },
    errors: ['sso_not_configured', 'sso_failed'],
  }),
} as const;

/** Routes of documents for programs. */
const documentRoutes = {
  getOpenapiDocument: defineRoute({
    ...detail,
    tag: 'Documents',
    operationId: 'getOpenapiDocument',
    method: 'GET',
    path: '/v1/openapi.json',
    caller: 'public',
    crossOrigin: true,
    summary: 'Get the OpenAPI 3.1 document of this API',
    description: 'Generated from the route table of the services.',
    request: {},
    responses: { 200: json('The document.', z.looseObject({ openapi: z.string() })) },
    errors: [],
  }),
  getAsyncapiDocument: defineRoute({
    ...detail,
    tag: 'Documents',
    operationId: 'getAsyncapiDocument',
    method: 'GET',
    path: '/v1/asyncapi.json',
    caller: 'public',
    crossOrigin: true,
    summary: 'Get the AsyncAPI 3.0 document of the webhook events',
    description: 'Generated from the schemas by which events are written: those of apps and those of accounts.',
    request: {},
    responses: { 200: json('The document.', z.looseObject({ asyncapi: z.string() })) },
    errors: [],
  }),
  getSecurityText: defineRoute({
    ...detail,
    tag: 'Documents',
    operationId: 'getSecurityText',
    method: 'GET',
    path: '/.well-known/security.txt',
    caller: 'public',
    crossOrigin: true,
    summary: 'Get the address for reports of vulnerabilities (RFC 9116)',
    description: 'Answers 404 where the operator has set no such address.',
    request: {},
    responses: { 200: { description: 'The file.', contentType: 'text/plain', schema: z.string() } },
    errors: ['not_found'],
  }),
} as const;

/** Public routes of the auth service. */
export const authRoutes = {
  ...accountRoutes,
  ...factorRoutes,
  ...accountLifeRoutes,
  ...oauthRoutes,
  ...deviceRoutes,
  ...interactionRoutes,
  ...appRoutes,
  ...appReportRoutes,
  ...managementKeyRoutes,
  ...organizationRoutes,
  ...publisherRoutes,
  ...connectionRoutes,
  ...signInRoutes,
  ...documentRoutes,
} as const;

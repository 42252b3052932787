import { z } from 'zod';
import { errorBodySchema, oauthErrorSchema } from '../core/error-body.ts';
import { jwksSchema } from '../core/jwks.ts';
import { FORM_BYTES_MAX } from '../core/limits.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import * as oauth from './oauth.ts';

const oauthTag = { service: 'auth', errorShape: 'detail', tag: 'OAuth' } as const;
const oauthForm = <S extends z.ZodType>(schema: S) =>
  ({
    contentType: 'application/x-www-form-urlencoded',
    schema,
    required: true,
    bytesMax: FORM_BYTES_MAX,
    raw: true,
  }) as const;

const page = { contentType: 'text/html', schema: z.string() } as const;
const refusedForm = { 400: { description: 'A page that explains why the form was refused.', ...page } } as const;

/** Errors of RFC 6749 section 5.2, in the format of the OAuth library. */
const oauthRefusals = {
  400: json('The grant, code, token or a parameter is invalid.', oauthErrorSchema),
  401: json('The app is unknown or deactivated, or its secret is wrong.', oauthErrorSchema),
} as const;

/** Routes of authorization, consent, tokens and discovery. */
export const oauthRoutes = {
  showAuthorizePage: defineRoute({
    ...oauthTag,
    operationId: 'showAuthorizePage',
    method: 'GET',
    path: '/v1/integrations/oauth/authorize',
    caller: 'oauth_public',
    summary: 'Show the sign-in and consent pages (RFC 6749 section 4.1.1, RFC 7636)',
    description:
      'Ignores unknown values of `scope` beside known ones. Once the app and its redirect URI are verified, other faults redirect there with `error`. Browsers get a 422 as a page.',
    request: { query: oauth.authorizeQuerySchema },
    responses: {
      200: { description: 'The page.', ...page },
      303: { description: 'To the redirect URI: with `error`, or with `code` for `prompt=none`.' },
      400: {
        description:
          'A page that explains why the app was refused; JSON with the code if the client accepts only JSON.',
        ...page,
        alternatives: { 'application/json': errorBodySchema },
      },
    },
    errors: [
      'unknown_app',
      'redirect_uri_not_registered',
      'app_inactive',
      'pushed_request_required',
      'pushed_request_unknown',
    ],
  }),
  decideConsent: defineRoute({
    ...oauthTag,
    operationId: 'decideConsent',
    method: 'POST',
    path: '/v1/integrations/oauth/authorize',
    caller: 'console_session',
    summary: 'Approve or deny an app',
    request: { body: jsonBody(oauth.consentRequestSchema) },
    responses: {
      200: json(
        'The address to send the browser to, with `code`, `state` and `iss`, or with `error`.',
        oauth.consentDecidedSchema,
      ),
    },
    errors: ['app_inactive', 'pushed_request_required', 'email_not_verified'],
  }),
  getConsent: defineRoute({
    ...oauthTag,
    operationId: 'getConsent',
    method: 'GET',
    path: '/v1/integrations/oauth/consent',
    caller: 'console_session',
    summary: 'Get the details of a consent request',
    request: { query: oauth.consentQuerySchema },
    responses: { 200: json('The consent details.', oauth.consentDetailsSchema) },
    errors: ['app_inactive', 'pushed_request_required'],
  }),
  issueToken: defineRoute({
    ...oauthTag,
    operationId: 'issueToken',
    method: 'POST',
    path: '/v1/integrations/oauth/token',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Redeem a code or refresh (RFC 6749 sections 4.1.3 and 6)',
    request: { body: oauthForm(oauth.tokenRequestSchema) },
    responses: { 200: json('Tokens.', oauth.tokenResponseSchema), ...oauthRefusals },
    errors: [],
  }),
  pushAuthorizationRequest: defineRoute({
    ...oauthTag,
    operationId: 'pushAuthorizationRequest',
    method: 'POST',
    path: '/v1/integrations/oauth/par',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Push an authorization request (RFC 9126)',
    description:
      'Then send the browser to the authorize page with only `client_id` and `request_uri`. The reference works once, within a minute.',
    request: { body: oauthForm(oauth.pushedRequestSchema) },
    responses: { 201: json('The reference to the pushed request.', oauth.pushedRequestAnswerSchema), ...oauthRefusals },
    errors: [],
  }),
  revokeToken: defineRoute({
    ...oauthTag,
    operationId: 'revokeToken',
    method: 'POST',
    path: '/v1/integrations/oauth/revoke',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Revoke a token (RFC 7009)',
    description: "Ends the app's tokens, not the user's connection.",
    request: { body: oauthForm(oauth.revocationRequestSchema) },
    responses: { 200: json('Revoked, or unknown. The body is empty.', z.object({})), ...oauthRefusals },
    errors: [],
  }),
  getJwks: defineRoute({
    ...oauthTag,
    operationId: 'getJwks',
    method: 'GET',
    path: '/v1/integrations/oauth/jwks',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Get the public signing keys (RFC 7517)',
    request: {},
    responses: { 200: json('The key set.', jwksSchema) },
    errors: [],
  }),
  getOpenidConfiguration: defineRoute({
    ...oauthTag,
    operationId: 'getOpenidConfiguration',
    method: 'GET',
    path: '/.well-known/openid-configuration',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Get the OpenID Connect Discovery 1.0 metadata',
    request: {},
    responses: { 200: json('The metadata.', oauth.authorizationServerMetadataSchema) },
    errors: [],
  }),
  getAuthorizationServerMetadata: defineRoute({
    ...oauthTag,
    operationId: 'getAuthorizationServerMetadata',
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Get the authorization server metadata (RFC 8414)',
    request: {},
    responses: { 200: json('The metadata.', oauth.authorizationServerMetadataSchema) },
    errors: [],
  }),
  getProtectedResourceMetadata: defineRoute({
    ...oauthTag,
    operationId: 'getProtectedResourceMetadata',
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/v1/integrations',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Get the metadata of the delegated API as a protected resource (RFC 9728)',
    description: 'Responses to requests without a valid access token link to it as `resource_metadata`.',
    request: {},
    responses: { 200: json('The metadata.', oauth.protectedResourceMetadataSchema) },
    errors: [],
  }),
} as const;

/** Forms of the authorize page, for browsers. */
export const interactionRoutes = {
  submitSignIn: defineRoute({
    ...oauthTag,
    operationId: 'submitSignIn',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/sign-in',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: sign in',
    request: { body: oauthForm(z.object({})) },
    responses: {
      303: { description: 'Back to the authorize page.' },
      200: { description: 'The page again, with the errors.', ...page },
      ...refusedForm,
    },
    errors: [],
  }),
  submitSecondFactor: defineRoute({
    ...oauthTag,
    operationId: 'submitSecondFactor',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/second-factor',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: second factor',
    request: { body: oauthForm(z.object({})) },
    responses: {
      303: { description: 'Back to the authorize page.' },
      200: { description: 'The page again, with the errors.', ...page },
      ...refusedForm,
    },
    errors: [],
  }),
  submitPasskey: defineRoute({
    ...oauthTag,
    operationId: 'submitPasskey',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/passkey',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: sign in with a passkey',
    request: { body: oauthForm(z.object({})) },
    responses: {
      303: { description: 'Back to the authorize page.' },
      200: { description: 'The page again, with the errors.', ...page },
      ...refusedForm,
    },
    errors: [],
  }),
  submitSignUp: defineRoute({
    ...oauthTag,
    operationId: 'submitSignUp',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/sign-up',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: sign up',
    request: { body: oauthForm(z.object({})) },
    responses: {
      303: { description: 'Back to the authorize page.' },
      200: { description: 'The page again, with the errors.', ...page },
      ...refusedForm,
    },
    errors: [],
  }),
  submitSignOut: defineRoute({
    ...oauthTag,
    operationId: 'submitSignOut',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/sign-out',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: switch account',
    request: { body: oauthForm(z.object({})) },
    responses: { 303: { description: 'Back to the authorize page.' }, ...refusedForm },
    errors: [],
  }),
  submitDecision: defineRoute({
    ...oauthTag,
    operationId: 'submitDecision',
    method: 'POST',
    path: '/v1/integrations/oauth/interaction/decision',
    caller: 'oauth_public',
    summary: 'Submit the authorize page: approve or deny',
    request: { body: oauthForm(z.object({})) },
    responses: {
      303: { description: "To the app's redirect URI, or back to the authorize page." },
      200: { description: 'The page again, with the errors.', ...page },
      503: { description: 'A page that explains that nothing has changed.', ...page },
      ...refusedForm,
    },
    errors: [],
  }),
} as const;

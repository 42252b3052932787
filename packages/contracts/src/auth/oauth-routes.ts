import { z } from 'zod';
import { errorBodySchema, oauthErrorSchema } from '../core/error-body.ts';
import { jwksSchema } from '../core/jwks.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { formBody, page } from './forms.ts';
import * as oauth from './oauth.ts';

const oauthTag = { service: 'auth', errorShape: 'detail', tag: 'OAuth' } as const;

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
      'too_many_attempts',
    ],
  }),
  decideConsent: defineRoute({
    ...oauthTag,
    operationId: 'decideConsent',
    role: 'person',
    audit: null,
    method: 'POST',
    path: '/v1/integrations/oauth/authorize',
    caller: 'console_session',
    managementScope: null,
    summary: 'Approve or deny an app',
    description:
      'Records the decision of the signed-in user and answers the address to which the browser returns, with a code or with `access_denied`.',
    request: { body: jsonBody(oauth.consentRequestSchema) },
    responses: {
      200: json(
        'The address to send the browser to, with `code`, `state` and `iss`, or with `error`.',
        oauth.consentDecidedSchema,
      ),
    },
    errors: ['app_inactive', 'pushed_request_required', 'email_not_verified', 'too_many_attempts'],
  }),
  getConsent: defineRoute({
    ...oauthTag,
    operationId: 'getConsent',
    role: 'person',
    method: 'GET',
    path: '/v1/integrations/oauth/consent',
    caller: 'console_session',
    managementScope: null,
    summary: 'Get the details of a consent request',
    description:
      'Returns what a consent page shows: the app, its publisher, the scopes, the account that would be connected, and what its plan can still pay.',
    request: { query: oauth.consentQuerySchema },
    responses: { 200: json('The consent details.', oauth.consentDetailsSchema) },
    errors: ['app_inactive', 'pushed_request_required', 'service_unavailable', 'too_many_attempts'],
  }),
  issueToken: defineRoute({
    ...oauthTag,
    operationId: 'issueToken',
    method: 'POST',
    path: '/v1/integrations/oauth/token',
    caller: 'oauth_public',
    crossOrigin: true,
    errorShape: 'oauth',
    summary: 'Redeem a code or refresh (RFC 6749 sections 4.1.3 and 6, RFC 8628 section 3.4)',
    description:
      'Authenticates the app by its secret or, for a public app, by the code verifier. The answer names the user in `svc_user_id`. A refresh token is replaced at each use.',
    request: { body: formBody(oauth.tokenRequestSchema) },
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
    request: { body: formBody(oauth.pushedRequestSchema) },
    responses: { 201: json('The reference to the pushed request.', oauth.pushedRequestAnswerSchema), ...oauthRefusals },
    errors: [],
  }),
  authorizeDevice: defineRoute({
    ...oauthTag,
    operationId: 'authorizeDevice',
    method: 'POST',
    path: '/v1/integrations/oauth/device_authorization',
    caller: 'oauth_public',
    errorShape: 'oauth',
    summary: 'Ask for access on a device without a browser (RFC 8628)',
    description:
      'For apps with `device_flow`. Show `user_code` and `verification_uri`, then poll the token endpoint with `device_code`, at most every `interval` seconds. Each `slow_down` adds five.',
    request: { body: formBody(oauth.deviceAuthorizationRequestSchema) },
    responses: { 200: json('The codes.', oauth.deviceAuthorizationSchema), ...oauthRefusals },
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
    request: { body: formBody(oauth.revocationRequestSchema) },
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
    description: 'Verify access tokens with these keys. Keys rotate: fetch the set again for an unknown `kid`.',
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
    description: 'A stock client needs this address alone. There are no ID tokens.',
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
    description: 'Same content as the OpenID Connect metadata.',
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

import { DEVICE_GRANT_TYPE, INFERENCE_BUDGET, type Scope, scopes } from '@svc/contracts';
import { DPOP_ALGORITHMS } from '@svc/service-kit';

/** Path of the authorization server below the issuer. */
export const OAUTH_PATH = '/v1/integrations/oauth';

const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'] as const;
const SCOPES: readonly Scope[] = scopes;

/**
 * Returns the authorization server metadata (RFC 8414 section 2). Every URL is built from the configured issuer, so
 * that request headers cannot redirect a client. ID tokens and their algorithms are not included: better-auth expects an ID
 * token where an algorithm for one is named.
 */
export const serverMetadata = (issuer: string, { hasClientDocuments }: { hasClientDocuments: boolean }) => ({
  issuer,
  client_id_metadata_document_supported: hasClientDocuments,
  authorization_endpoint: `${issuer}${OAUTH_PATH}/authorize`,
  token_endpoint: `${issuer}${OAUTH_PATH}/token`,
  revocation_endpoint: `${issuer}${OAUTH_PATH}/revoke`,
  device_authorization_endpoint: `${issuer}${OAUTH_PATH}/device_authorization`,
  pushed_authorization_request_endpoint: `${issuer}${OAUTH_PATH}/par`,
  jwks_uri: `${issuer}${OAUTH_PATH}/jwks`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  scopes_supported: SCOPES,
  // RFC 9449 section 5.1.
  dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
  // RFC 9396 section 10.
  authorization_details_types_supported: [INFERENCE_BUDGET],
  subject_types_supported: ['public'],
  ui_locales_supported: ['it', 'en'],
  prompt_values_supported: ['none', 'create'],
  // RFC 9728 section 4.
  protected_resources: [`${issuer}/v1/integrations`],
  // RFC 9207 section 3.
  authorization_response_iss_parameter_supported: true,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  claims_parameter_supported: false,
});

/** Returns the metadata of the delegated API as a protected resource (RFC 9728 section 2). */
export const protectedResourceMetadata = (issuer: string) => ({
  resource: `${issuer}/v1/integrations`,
  authorization_servers: [issuer],
  scopes_supported: SCOPES,
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
  resource_name: 'svc',
  resource_documentation: `${issuer}/docs`,
});

/** Returns the resource indicators of this server: the audience of access tokens, and the delegated API. */
export const ownResources = (issuer: string): readonly string[] => [`${issuer}/v1`, `${issuer}/v1/integrations`];

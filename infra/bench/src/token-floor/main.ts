import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';

// Lower bound of the token endpoint: the same library with the same kind of tokens, in memory. Settings and requests
// for codes come over IPC; the replies are codes.

const PATH = '/v1/integrations/oauth';
const SCOPE = 'inference usage:read';
const ALGORITHM = 'ES256';

const required = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const issuer = `http://127.0.0.1:${required('PORT')}`;
const resource = `${issuer}/v1`;
const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: ALGORITHM, use: 'sig', kid: 'floor' }] },
  clients: [
    {
      client_id: 'floor',
      client_secret: required('CLIENT_SECRET'),
      redirect_uris: [required('REDIRECT_URI')],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: SCOPE,
    },
  ],
  clientDefaults: { id_token_signed_response_alg: ALGORITHM },
  enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
  responseTypes: ['code'],
  scopes: SCOPE.split(' '),
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  expiresWithSession: async () => false,
  findAccount: async (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  extraTokenClaims: async (_ctx, token) => ('grantId' in token ? { grant_id: token.grantId } : undefined),
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 300,
    RefreshToken: 86_400,
    Grant: 86_400,
    IdToken: 60,
    Interaction: 60,
    Session: 60,
  },
  features: {
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async () => ({
        scope: SCOPE,
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: ALGORITHM } },
      }),
    },
  },
  routes: { token: `${PATH}/token`, jwks: `${PATH}/jwks` },
});

const issueCode = async (accountId: string): Promise<string> => {
  const client = await provider.Client.find('floor');
  if (client === undefined) throw new Error('the client is missing');
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  grant.addResourceScope(resource, SCOPE);
  const grantId = await grant.save();
  const code = new provider.AuthorizationCode({
    accountId,
    client,
    grantId,
    scope: SCOPE,
    resource,
    redirectUri: required('REDIRECT_URI'),
    codeChallenge: required('CODE_CHALLENGE'),
    codeChallengeMethod: 'S256',
    authTime: Math.floor(Date.now() / 1000),
    gty: 'authorization_code',
  });
  return await code.save();
};

process.on('message', async (message: { count: number }) => {
  const codes = await Promise.all(Array.from({ length: message.count }, (_, index) => issueCode(`usr_${index}`)));
  process.send?.({ codes });
});
provider.listen(Number(required('PORT')), '127.0.0.1');

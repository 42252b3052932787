import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listen } from './listen.ts';

interface Code {
  readonly redirectUri: string;
  readonly challenge: string;
  isUsed: boolean;
}

interface Grant {
  generation: number;
  isRevoked: boolean;
}

/** Stand-in for the service's OAuth part: discovery, codes with PKCE, refresh with rotation and grace, revocation. */
export interface StandInOAuth extends Listening {
  readonly clientId: string;
  readonly clientSecret: string;
  /** An app without a secret. */
  readonly publicClientId: string;
  readonly svcUserId: string;
  /** Forms received by the token endpoint, in order. */
  readonly tokenRequests: URLSearchParams[];
  readonly revoked: string[];
  /** Decides on an authorize URL as the consent page does; returns the callback URL. */
  decide(authorizeUrl: string, approved: boolean): string;
  /** Ends all grants. */
  disconnect(): void;
  /** Processes the next `count` token requests but drops their answers. */
  loseAnswers(count: number): void;
  /** Answers the next token request with this status. */
  failNext(status: number, body: object): void;
  /** True if the predecessor of the newest refresh token is still accepted. */
  readonly hasGrace: boolean;
  expiresIn: number;
  /** `authorization_details` of the token responses. */
  grantedDetails: readonly object[] | undefined;
  /** Forms received by the device authorization endpoint. */
  readonly deviceRequests: URLSearchParams[];
  /** Members that replace those of the next device authorization response. */
  deviceAnswer: object;
  /** Errors answered to polls, in order; then tokens. */
  readonly pollErrors: string[];
  /** Delay of the token endpoint in milliseconds. */
  readonly delayMs: number;
}

export const startStandInOAuth = async (): Promise<StandInOAuth> => {
  const codes = new Map<string, Code>();
  const tokens = new Map<string, { grant: Grant; generation: number }>();
  const failures: { status: number; body: object }[] = [];
  let lost = 0;

  const issue = (grant: Grant): object => {
    const refreshToken = `rt_${randomBytes(8).toString('hex')}`;
    tokens.set(refreshToken, { grant, generation: grant.generation });
    return {
      access_token: `at_${randomBytes(8).toString('hex')}`,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: oauth.expiresIn,
      scope: 'inference usage:read',
      svc_user_id: oauth.svcUserId,
      authorization_details: oauth.grantedDetails,
    };
  };

  const redeem = (form: URLSearchParams): object | undefined => {
    const code = codes.get(form.get('code') ?? '');
    const challenge = hash('sha256', form.get('code_verifier') ?? '', 'base64url');
    if (code === undefined || code.isUsed || code.challenge !== challenge) return undefined;
    if (code.redirectUri !== form.get('redirect_uri')) return undefined;
    code.isUsed = true;
    return issue({ generation: 0, isRevoked: false });
  };

  const refresh = (form: URLSearchParams): object | undefined => {
    const token = tokens.get(form.get('refresh_token') ?? '');
    if (token === undefined || token.grant.isRevoked) return undefined;
    const { grant, generation } = token;
    if (generation === grant.generation) grant.generation += 1;
    else if (generation !== grant.generation - 1 || !oauth.hasGrace) {
      grant.isRevoked = true;
      return undefined;
    }
    return issue(grant);
  };

  const answerToken = async (form: URLSearchParams, response: ServerResponse): Promise<void> => {
    oauth.tokenRequests.push(form);
    await new Promise((resolve) => setTimeout(resolve, oauth.delayMs));
    const planned = failures.shift();
    if (planned !== undefined) return sendJson(response, planned.status, planned.body);
    const secret = form.get('client_id') === oauth.publicClientId ? null : oauth.clientSecret;
    const isKnown = [oauth.clientId, oauth.publicClientId].includes(form.get('client_id') ?? '');
    if (!isKnown || form.get('client_secret') !== secret) {
      return sendJson(response, 401, { error: 'invalid_client' });
    }
    const isPoll = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:device_code';
    const pollError = isPoll ? oauth.pollErrors.shift() : undefined;
    if (pollError !== undefined) return sendJson(response, 400, { error: pollError });
    if (isPoll) return sendJson(response, 200, issue({ generation: 0, isRevoked: false }));
    const answer = form.get('grant_type') === 'refresh_token' ? refresh(form) : redeem(form);
    if (lost > 0) {
      lost -= 1;
      response.socket?.destroy();
      return;
    }
    if (answer === undefined) return sendJson(response, 400, { error: 'invalid_grant', error_description: 'No.' });
    sendJson(response, 200, answer);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await text(request));
    if (request.url === '/.well-known/openid-configuration') return sendJson(response, 200, metadata(oauth.url));
    if (request.url === '/v1/integrations/oauth/token') return await answerToken(form, response);
    if (request.url === '/v1/integrations/oauth/device_authorization') {
      oauth.deviceRequests.push(form);
      return sendJson(response, 200, { ...deviceCodes(oauth.url), ...oauth.deviceAnswer });
    }
    if (request.url === '/v1/integrations/oauth/revoke') oauth.revoked.push(form.get('token') ?? '');
    response.writeHead(200).end();
  };

  const listening = await listen((request, response) => void serve(request, response));
  const oauth: StandInOAuth = {
    ...listening,
    clientId: 'app_01jd5m8q2v3w4x5y6z7a8b9c0e',
    clientSecret: 'svc_cs_stand-in',
    publicClientId: 'app_01jd5m8q2v3w4x5y6z7a8b9c0f',
    svcUserId: 'usr_01jd5m8q2v3w4x5y6z7a8b9c0d',
    tokenRequests: [],
    deviceRequests: [],
    deviceAnswer: {},
    pollErrors: [],
    revoked: [],
    hasGrace: true,
    expiresIn: 3600,
    grantedDetails: undefined,
    delayMs: 0,
    decide: (authorizeUrl, approved) => {
      const query = new URL(authorizeUrl).searchParams;
      const callback = new URL(query.get('redirect_uri') ?? '');
      const code = randomBytes(8).toString('hex');
      const challenge = query.get('code_challenge') ?? '';
      if (approved) codes.set(code, { redirectUri: callback.href, challenge, isUsed: false });
      callback.search = new URLSearchParams({
        ...(approved ? { code } : { error: 'access_denied' }),
        state: query.get('state') ?? '',
        iss: oauth.url,
      }).toString();
      return callback.href;
    },
    disconnect: () => {
      for (const { grant } of tokens.values()) grant.isRevoked = true;
    },
    loseAnswers: (count) => {
      lost = count;
    },
    failNext: (status, body) => void failures.push({ status, body }),
  };
  return oauth;
};

const deviceCodes = (issuer: string): object => ({
  device_code: 'device-code',
  user_code: 'BCDF-GHJK',
  verification_uri: `${issuer}/v1/integrations/oauth/device`,
  verification_uri_complete: `${issuer}/v1/integrations/oauth/device?user_code=BCDF-GHJK`,
  expires_in: 600,
  interval: 5,
});

const metadata = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/v1/integrations/oauth/authorize`,
  token_endpoint: `${issuer}/v1/integrations/oauth/token`,
  revocation_endpoint: `${issuer}/v1/integrations/oauth/revoke`,
  jwks_uri: `${issuer}/v1/integrations/oauth/jwks`,
  response_types_supported: ['code'],
  authorization_response_iss_parameter_supported: true,
  code_challenge_methods_supported: ['S256'],
});

const sendJson = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
};

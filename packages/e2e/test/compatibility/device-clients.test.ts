import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { approveDevice } from './support/browser.ts';
import { call } from './support/product.ts';

const SCOPE = 'inference usage:read';
const insecure = { [oauth.allowInsecureRequests]: true };

let clientId: string;
beforeAll(async () => {
  const { client_id } = await call('POST', `${inject('origin')}/v1/integrations/apps`, {
    token: inject('business').token,
    body: {
      name: 'Terminal',
      client_type: 'public',
      redirect_uris: ['http://127.0.0.1/callback'],
      device_flow: true,
    },
  });
  clientId = String(client_id);
});

/** Uses the plan of the user with a token. */
const useUsage = async (accessToken: string): Promise<void> => {
  const answer = await fetch(`${inject('origin')}/v1/integrations/usage`, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  expect(answer.status).toBe(200);
};

describe('RFC 8628 with stock clients, from the issuer alone', () => {
  test('oauth4webapi: asks, waits, obeys slow_down, and gets tokens', async () => {
    const issuer = new URL(inject('origin'));
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client: oauth.Client = { client_id: clientId };
    const parameters = new URLSearchParams({ scope: SCOPE, device_name: 'oauth4webapi' });
    const asked = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, insecure);
    const codes = await oauth.processDeviceAuthorizationResponse(server, client, asked);
    const poll = async () => {
      const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), codes.device_code, insecure);
      return await oauth.processDeviceCodeResponse(server, client, response);
    };
    await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' });
    await expect(poll()).rejects.toMatchObject({ error: 'slow_down' });
    await approveDevice(String(codes.verification_uri_complete));
    await useUsage((await poll()).access_token);
  });

  test('openid-client: polls until the user has approved', async () => {
    const options = { execute: [openid.allowInsecureRequests] };
    const config = await openid.discovery(new URL(inject('origin')), clientId, {}, openid.None(), options);
    const codes = await openid.initiateDeviceAuthorization(config, { scope: SCOPE, device_name: 'openid-client' });
    const waiting = openid.pollDeviceAuthorizationGrant(config, codes);
    await approveDevice(String(codes.verification_uri_complete));
    await useUsage((await waiting).access_token);
  });
});

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type FoundManagementKey, internalRoutes, type Membership } from '@svc/contracts';
import type { JWK } from 'jose';

/** Look-ups of the auth service, which other services send to its internal routes. */
export interface AuthStandIn {
  /** Present memberships by their ids. One that is missing has ended. */
  readonly memberships: Map<string, Membership>;
  /** Names of accounts by their ids. */
  readonly names: Map<string, string>;
  /** Management keys by their digests in hex. */
  readonly managementKeys: Map<string, FoundManagementKey>;
  /** Look-ups so far, in their order. */
  readonly lookups: { readonly path: string; readonly ids: readonly string[] }[];
  /** Leaves look-ups without an answer while true. */
  isSilent: boolean;
}

export interface ServedAuth {
  readonly jwksUrl: string;
  readonly jwksRequests: () => number;
  readonly auth: AuthStandIn;
  readonly stop: () => Promise<void>;
}

/** Serves the key set and the look-ups on one port. */
export const serveAuth = async (keys: () => readonly JWK[]): Promise<ServedAuth> => {
  const auth: AuthStandIn = {
    memberships: new Map(),
    names: new Map(),
    managementKeys: new Map(),
    lookups: [],
    isSilent: false,
  };
  let requests = 0;
  const server = createServer((request, response) => {
    const answer = lookups[request.url ?? ''];
    if (request.method !== 'POST' || answer === undefined) {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/jwk-set+json' });
      return void response.end(JSON.stringify({ keys: keys() }));
    }
    void json(request).then((body) => {
      if (auth.isSilent) return;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: answer(auth, request.url ?? '', body) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    jwksUrl: `http://127.0.0.1:${port}/v1/integrations/oauth/jwks`,
    jwksRequests: () => requests,
    auth,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

type Lookup = (auth: AuthStandIn, path: string, body: unknown) => readonly unknown[];

const lookups: Readonly<Record<string, Lookup | undefined>> = {
  [internalRoutes.findMemberships.path]: (auth, path, body) => {
    const { ids } = internalRoutes.findMemberships.request.body.schema.parse(body);
    auth.lookups.push({ path, ids });
    return ids.map((id) => auth.memberships.get(id) ?? null);
  },
  [internalRoutes.findManagementKeys.path]: (auth, path, body) => {
    const { digests } = internalRoutes.findManagementKeys.request.body.schema.parse(body);
    auth.lookups.push({ path, ids: digests });
    return digests.map((digest) => auth.managementKeys.get(digest) ?? null);
  },
  [internalRoutes.nameAccounts.path]: (auth, path, body) => {
    const { svc_user_ids: ids } = internalRoutes.nameAccounts.request.body.schema.parse(body);
    auth.lookups.push({ path, ids });
    return ids.map((id) => ({ svc_user_id: id, name: auth.names.get(id) ?? null }));
  },
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import { routes } from '@svc/contracts';
import { type Binding, bind, type Clock, HANDLED, type Prepare, type Reply, type ReplyContent } from '@svc/service-kit';
import type { ClientDocuments } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import type { OauthServer } from './oauth-server.ts';
import { resolvePushedRequest } from './pushed-requests.ts';
import { OAUTH_PATH, protectedResourceMetadata, serverMetadata } from './server-metadata.ts';

/** Time for which clients may cache the metadata. */
const METADATA_SECONDS = 3600;

interface Handed {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

/** Binds the token, revocation and metadata endpoints. */
export const oauthRoutes = (deps: {
  server: OauthServer;
  issuer: string;
  documents: Pick<ClientDocuments, 'isEnabled'>;
}): Binding[] => {
  const metadata: Reply = {
    status: 200,
    body: serverMetadata(deps.issuer, { hasClientDocuments: deps.documents.isEnabled }),
    headers: { 'cache-control': `public, max-age=${METADATA_SECONDS}` },
  };
  const resourceMetadata: Reply = { ...metadata, body: protectedResourceMetadata(deps.issuer) };
  const handOver = async ({ req, res, clientAddress }: Handed): Promise<Reply> => {
    await deps.server(req, res, clientAddress);
    return HANDLED;
  };
  return [
    bind(routes.issueToken, handOver),
    bind(routes.revokeToken, handOver),
    bind(routes.pushAuthorizationRequest, handOver),
    bind(routes.authorizeDevice, handOver),
    bind(routes.getOpenidConfiguration, async () => metadata),
    bind(routes.getAuthorizationServerMetadata, async () => metadata),
    bind(routes.getProtectedResourceMetadata, async () => resourceMetadata),
  ];
};

const pushedRequests = new WeakSet<IncomingMessage>();

/** Returns true if a request to the authorize page replaces one that its app has pushed. */
export const isPushedRequest = (req: IncomingMessage): boolean => pushedRequests.has(req);

export interface PreparePushedRequestDeps {
  readonly database: Executor;
  readonly clock: Clock;
  /** Responds to a `request_uri` that is unknown, used or expired. */
  readonly refuse: (req: IncomingMessage) => ReplyContent;
}

/** Replaces a `request_uri` by the pushed query, so that the authorize page reads it as if the browser had sent it. */
export const preparePushedRequest =
  (deps: PreparePushedRequestDeps): Prepare =>
  (req) => {
    // A query may contain further question marks (RFC 3986 section 3.4).
    const [, path = '', search = ''] = /^([^?]*)\??(.*)$/s.exec(req.url ?? '') ?? [];
    if (req.method !== 'GET' || path !== `${OAUTH_PATH}/authorize` || !search.includes('request_uri='))
      return undefined;
    return replaceByPushed(deps, { req, path, query: new URLSearchParams(search) });
  };

const replaceByPushed = async (
  deps: PreparePushedRequestDeps,
  { req, path, query }: { readonly req: IncomingMessage; readonly path: string; readonly query: URLSearchParams },
): Promise<ReplyContent | undefined> => {
  const requestUri = query.get('request_uri');
  if (requestUri === null) return undefined;
  const resolved = await resolvePushedRequest(deps, { clientId: query.get('client_id') ?? '', requestUri });
  if (resolved === undefined) return deps.refuse(req);
  req.url = `${path}?${resolved}`;
  pushedRequests.add(req);
  return undefined;
};

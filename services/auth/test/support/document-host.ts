import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createTestAuthority } from '@svc/testing';

/** A response: a document, a raw body, or anything else that a host may do. */
export interface HostedDocument {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | object;
  /** Never sends the end of the body. */
  readonly isSlow?: boolean;
}

/** An HTTPS host of client metadata documents. */
export interface DocumentHost {
  readonly origin: string;
  readonly allowTarget: string;
  readonly caFile: string;
  /** Paths that were fetched. */
  readonly fetched: string[];
  readonly serve: (path: string, document: HostedDocument) => void;
  /** Closes all connections, also those of answers that have not ended. */
  readonly hangUp: () => void;
  readonly stop: () => Promise<void>;
}

export const startDocumentHost = async (): Promise<DocumentHost> => {
  const authority = await createTestAuthority();
  const documents = new Map<string, HostedDocument>();
  const fetched: string[] = [];
  const server = createServer(await authority.issue({ names: ['localhost'] }), (req, res) => {
    fetched.push(req.url ?? '');
    const { status = 200, headers = {}, body = '', isSlow = false } = documents.get(req.url ?? '') ?? { status: 404 };
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    if (isSlow) res.write(' ');
    else res.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  // The address of a listening server is an object.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    allowTarget: `localhost:${port}`,
    caFile: authority.caFile,
    fetched,
    serve: (path, document) => documents.set(path, document),
    hangUp: () => server.closeAllConnections(),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      authority.remove();
    },
  };
};

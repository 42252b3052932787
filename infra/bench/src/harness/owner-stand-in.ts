import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Auth and billing as the webhook dispatcher asks them: one account owns every app, and nobody has a subscription. */
export const startOwnerStandIn = async (ownerUserId: string): Promise<{ url: string; stop: () => void }> => {
  const server = createServer((request, response) => {
    const [, , kind, id = ''] = (request.url ?? '').split('/');
    const app = { client_id: id, owner_user_id: ownerUserId, name: 'Bench', active: true };
    response.writeHead(200, { 'content-type': 'application/json' });
    if (kind === 'apps') return void response.end(JSON.stringify(app));
    void json(request).then((asked) => {
      // As the contract says.
      const { svc_user_ids: userIds } = asked as { svc_user_ids: string[] };
      response.end(JSON.stringify({ snapshots: userIds.map(() => null) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { SubscriptionSnapshot } from '@svc/contracts';

/**
 * Stand-in for auth and billing towards the webhook dispatcher: one account owns every app, and either all users have a
 * subscription or none.
 */
export interface OwnerStandIn {
  readonly url: string;
  readonly subscribe: (isSubscribed: boolean) => void;
  readonly stop: () => void;
}

const SNAPSHOT: SubscriptionSnapshot = {
  status: 'active',
  plan: { id: 'starter', name: 'Starter' },
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  cancel_at_period_end: false,
  budget: { weekly_used_percent: 3, monthly_used_percent: 1, services: { chat: true, audio_transcription: false } },
  revision: 1,
};

/** Starts both on one port, initially without subscriptions. */
export const startOwnerStandIn = async (ownerUserId: string): Promise<OwnerStandIn> => {
  let snapshot: SubscriptionSnapshot | null = null;
  const server = createServer((request, response) => {
    const [, , kind, id = ''] = (request.url ?? '').split('/');
    const app = { client_id: id, owner_user_id: ownerUserId, name: 'Bench', active: true };
    response.writeHead(200, { 'content-type': 'application/json' });
    if (kind === 'apps') return void response.end(JSON.stringify(app));
    void json(request).then((asked) => {
      // The request follows the contract.
      const { svc_user_ids: userIds } = asked as { svc_user_ids: string[] };
      response.end(JSON.stringify({ snapshots: userIds.map(() => snapshot) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    subscribe: (isSubscribed) => {
      snapshot = isSubscribed ? SNAPSHOT : null;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Membership, SubscriptionSnapshot, WebhookNotice } from '@svc/contracts';
import { internalCredential } from '@svc/testing';

/** The dispatcher's credential. */
export const SERVICE_TOKEN = internalCredential('webhook-dispatcher');

/** Internal routes of auth and billing. */
export interface StandIns {
  readonly url: string;
  /** Owner of each app. */
  readonly owners: Map<string, string>;
  /** Present memberships by their ids. One that is missing has ended. */
  readonly memberships: Map<string, Membership>;
  readonly snapshots: Map<string, SubscriptionSnapshot>;
  /** Client secret of each confidential app. */
  readonly clientSecrets: Map<string, string>;
  /** Notices that owners were mailed, by app or account. */
  readonly notices: Map<string, WebhookNotice[]>;
  /** Apps whose owners cannot be mailed. */
  readonly unmailed: Set<string>;
  /** Runs after billing has read snapshots and before it answers with them. */
  beforeAnswer: () => Promise<void>;
  /** Answers every request with 503 while true. */
  isDown: boolean;
  readonly stop: () => Promise<void>;
}

/** Starts both on one port; their paths differ. */
export const startStandIns = async (): Promise<StandIns> => {
  const standIns = {
    owners: new Map<string, string>(),
    memberships: new Map<string, Membership>(),
    snapshots: new Map<string, SubscriptionSnapshot>(),
    clientSecrets: new Map<string, string>(),
    notices: new Map<string, WebhookNotice[]>(),
    unmailed: new Set<string>(),
    beforeAnswer: async () => undefined,
    isDown: false,
  };
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const refuse = (status: number, code: string) => answer(status, { detail: { code, message: code } });
    if (standIns.isDown) return refuse(503, 'service_unavailable');
    if (request.headers.authorization !== `Bearer ${SERVICE_TOKEN}`) return refuse(401, 'invalid_token');
    const [, root, kind, id = ''] = (request.url ?? '').split('/').map(decodeURIComponent);
    if (root !== 'internal') return refuse(404, 'not_found');
    if (request.method === 'POST' && kind === 'subscription-snapshots') {
      void json(request).then(async (asked) => {
        // The contract's request body.
        const { svc_user_ids: userIds } = asked as { svc_user_ids: string[] };
        const snapshots = userIds.map((userId) => standIns.snapshots.get(userId) ?? null);
        await standIns.beforeAnswer();
        answer(200, { snapshots });
      });
      return;
    }
    if (request.method === 'POST' && kind === 'membership-lookups') {
      void json(request).then((asked) => {
        // The contract's request body.
        const { ids } = asked as { ids: string[] };
        answer(200, { data: ids.map((membershipId) => standIns.memberships.get(membershipId) ?? null) });
      });
      return;
    }
    if (request.method === 'POST' && kind === 'apps' && (request.url ?? '').endsWith('/authentications')) {
      void json(request).then((asked) => {
        // The contract's request body.
        const { client_secret: secret } = asked as { client_secret: string };
        answer(200, { is_authentic: standIns.clientSecrets.get(id) === secret });
      });
      return;
    }
    if (request.method === 'POST' && kind === 'webhook-owners') {
      if (standIns.unmailed.has(id)) return refuse(500, 'internal_error');
      void json(request).then((notice) => {
        // The contract's request body.
        standIns.notices.set(id, [...(standIns.notices.get(id) ?? []), notice as WebhookNotice]);
        response.writeHead(204).end();
      });
      return;
    }
    if (request.method !== 'GET') return refuse(404, 'not_found');
    const owner = standIns.owners.get(id);
    if (kind !== 'apps' || owner === undefined) return refuse(404, 'not_found');
    answer(200, { client_id: id, owner_user_id: owner, name: 'An app', active: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return Object.assign(standIns, {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};

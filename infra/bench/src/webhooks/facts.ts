import { randomUUID } from 'node:crypto';
import { connectionAggregate, events, newId } from '@svc/contracts';

/** That a new user has connected to an app. */
export const connectionCreated = (clientId: string) => {
  const [userId, now] = [newId('usr'), new Date().toISOString()];
  return {
    subject: events.connectionCreated.subject,
    aggregate: connectionAggregate(userId, clientId),
    version: 1,
    data: { svc_user_id: userId, client_id: clientId, grant_id: newId('grt'), scope: 'inference', connected_at: now },
  };
};

/** That users, whose first fact was that they connected, are connected no more since the app is suspended. */
export const appDisconnected = (clientId: string, userIds: readonly string[]) => ({
  subject: events.appDisconnected.subject,
  aggregate: `disconnection:${randomUUID()}`,
  version: 1,
  data: {
    client_id: clientId,
    revoked_at: new Date().toISOString(),
    connections: userIds.map((userId) => ({ svc_user_id: userId, version: 2 })),
  },
});

/** A fact as auth's relay sends it. */
export const toMessage = <Fact extends object>(fact: Fact) => ({
  ...{ id: randomUUID(), occurred_at: new Date().toISOString() },
  ...fact,
});

import { randomUUID } from 'node:crypto';
import { connectionAggregate, events, newId } from '@svc/contracts';

/** Creates the event of a new user's connection to an app. */
export const connectionCreated = (clientId: string) => {
  const userId = newId('usr');
  const now = new Date().toISOString();
  return {
    subject: events.connectionCreated.subject,
    aggregate: connectionAggregate(userId, clientId),
    version: 1,
    data: { svc_user_id: userId, client_id: clientId, grant_id: newId('grt'), scope: 'inference', connected_at: now },
  };
};

/** Creates the event that ends the connections of users to a suspended app. */
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

/** Creates the message that auth's relay sends for an event. */
export const toMessage = <Fact extends object>(fact: Fact) => ({
  id: randomUUID(),
  occurred_at: new Date().toISOString(),
  ...fact,
});

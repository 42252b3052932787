import { randomUUID } from 'node:crypto';
import { events, newId, type Role } from '@svc/contracts';
import { connectMessaging, type Messaging } from '@svc/messaging';
import { createLogger, createMetrics } from '@svc/service-kit';
import type { TestGateway } from './start-gateway.ts';

/** A person who acts for an organization. */
export interface Member {
  readonly userId: string;
  readonly organizationId: string;
  readonly membershipId: string;
  readonly sessionId: string;
  readonly token: string;
}

/** Makes a member with a token. The same person may join again, with another membership. */
export const newMember = async (
  { tokens }: TestGateway,
  {
    organizationId,
    role,
    userId = newId('usr'),
  }: { readonly organizationId: string; readonly role: Role; readonly userId?: string },
): Promise<Member> => {
  const membershipId = newId('mem');
  const sessionId = newId('ses');
  const organization = { id: organizationId, role, membershipId };
  const token = await tokens.consoleSession({ userId, sessionId, organization });
  return { userId, organizationId, membershipId, sessionId, token };
};

export interface KeyAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly body: any;
}

/** Calls an endpoint of keys as a bearer. */
export const callKeys = async (
  { url }: Pick<TestGateway, 'url'>,
  { token }: { readonly token: string },
  [method, path, body]: [string, string, unknown?],
): Promise<KeyAnswer> => {
  const response = await fetch(`${url}/v1/gateway/keys${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};

/** Creates a key as a member and returns its record, with the key itself. */
export const createKeyAs = async (
  gateway: Pick<TestGateway, 'url'>,
  member: { readonly token: string },
  name = 'A key',
) => (await callKeys(gateway, member, ['POST', '', { name }])).body;

/** Connects to NATS as auth does. */
export const connectAsAuth = ({ nats }: TestGateway): Promise<Messaging> =>
  connectMessaging({
    url: nats.urlOf('auth'),
    name: 'auth',
    logger: createLogger({ service: 'auth', level: 'silent' }),
    metrics: createMetrics('auth'),
  });

/** Publishes that a person is no longer a member. */
export const publishRemoval = async (
  messaging: Messaging,
  { organizationId, membershipId, userId }: Member,
  occurredAt = new Date(),
): Promise<void> => {
  const fact = {
    id: randomUUID(),
    subject: events.memberRemoved.subject,
    aggregate: `membership:${membershipId}`,
    version: 1,
    occurred_at: occurredAt.toISOString(),
    data: { organization_id: organizationId, membership_id: membershipId, svc_user_id: userId },
  };
  await messaging.jetstream.publish(fact.subject, JSON.stringify(fact));
};

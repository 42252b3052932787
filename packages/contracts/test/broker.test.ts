import { describe, expect, test } from 'vitest';
import { allEvents, brokerAccess, durables, serviceNames, streamOfPublisher, streams } from '../src/index.ts';

const subjectsOf = (service: (typeof serviceNames)[number]): string[] =>
  brokerAccess(service).requests.map(({ subject }) => subject);

describe('the event table at the broker', () => {
  test('gives each fact one publisher, whose stream holds its subject', () => {
    for (const { subject, service } of allEvents) {
      const publishers = serviceNames.filter((name) => subjectsOf(name).includes(subject));
      expect(publishers, subject).toEqual([service]);
      const stream = Object.values(streams).find(({ name }) => name === streamOfPublisher(service));
      expect(
        stream?.subjects.some((pattern) => subject.startsWith(pattern.replace('>', ''))),
        subject,
      ).toBe(true);
    }
  });

  test('names each durable consumer after the service that it belongs to', () => {
    const named = new Set(allEvents.flatMap(({ consumers }) => consumers));
    expect(durables.map(({ name }) => name).toSorted()).toEqual([...named].toSorted());
    for (const { name, service, subjects } of durables) {
      expect(name.startsWith(`${service}_`)).toBe(true);
      expect(subjects.length, name).toBeGreaterThan(0);
    }
  });

  test('allows no service to create, change, purge or delete a stream or a durable consumer', () => {
    const changes = /STREAM\.(?!INFO|MSG\.GET)|CONSUMER\.DURABLE|CONSUMER\.(CREATE|DELETE)\.(?!KV_revocations)/;
    for (const service of serviceNames) {
      expect(subjectsOf(service).filter((subject) => changes.test(subject))).toEqual([]);
    }
  });

  test('grants the dispatcher exactly its permissions', () => {
    const pulled = [
      'AUTH.webhook-dispatcher_erasures',
      'AUTH.webhook-dispatcher_connections',
      'AUTH.webhook-dispatcher_disconnections',
      'BILLING.webhook-dispatcher_subscriptions',
      'BILLING.webhook-dispatcher_wallet-events',
      'INFERENCE.webhook-dispatcher_key-events',
      'INFERENCE.webhook-dispatcher_activity',
    ];
    expect(subjectsOf('webhook-dispatcher')).toEqual([
      ...pulled.flatMap((durable) => [
        `$JS.API.CONSUMER.INFO.${durable}`,
        `$JS.API.CONSUMER.RESET.${durable}`,
        `$JS.API.CONSUMER.MSG.NEXT.${durable}`,
        `$JS.ACK.${durable}.>`,
      ]),
      '$JS.API.STREAM.INFO.KV_revocations',
      '$JS.API.CONSUMER.CREATE.KV_revocations',
      '$JS.API.CONSUMER.CREATE.KV_revocations.*.$KV.revocations.>',
      '$JS.API.CONSUMER.DELETE.KV_revocations.*',
      '$JS.FC.KV_revocations.>',
    ]);
    expect(brokerAccess('webhook-dispatcher')).toMatchObject({
      signals: ['lanes_due_hint.webhook-dispatcher'],
      inbox: '_INBOX_webhook-dispatcher.>',
    });
  });
});

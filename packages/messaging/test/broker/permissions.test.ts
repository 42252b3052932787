import { brokerAccess, durables, type ServiceName, serviceNames, streams } from '@svc/contracts';
import { connect, type NatsConnection } from 'nats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateBroker } from '../../src/broker/index.ts';
import { type Client, startTestBroker, type TestBroker } from './support/broker.ts';

const STREAMS = [...Object.values(streams).map(({ name }) => name), 'KV_revocations'];
const PREFIXES = ['$JS.API', 'facts.API'];
const ALL_REQUESTS = [
  ...new Set(serviceNames.flatMap((name) => brokerAccess(name).requests.map((each) => each.subject))),
];
const TARGETS = ['auth.app.deleted.v1', 'billing.wallet.credited.v1', '$KV.revocations.session.ses_1'];
const PATIENCE = { timeout: 5_000, interval: 20 };

let broker: TestBroker;
let operator: Client;
let clients: Record<ServiceName, Client>;
beforeAll(async () => {
  broker = await startTestBroker();
  await migrateBroker({ url: broker.urlOf('operator') });
  operator = await broker.connect('operator');
  clients = await broker.connectServices();
});
afterAll(() => broker.stop());

/** Returns the subject of a granted pattern, under the prefix that services use. */
const literal = (pattern: string): string =>
  pattern.replace('$JS.API', 'facts.API').replaceAll('*', 'usr_1').replace(/>$/, 'usr_1');

/** This version of the broker sends the answer to a reset to the account of the streams, where no service hears it. */
const timeoutOf = (subject: string): number => (subject.includes('.CONSUMER.RESET.') ? 200 : 2_000);

/** Returns the code of the broker's refusal, or the error that ended the request. */
const outcomeOf = async ({ connection }: Client, subject: string, body = ''): Promise<string> =>
  await connection.request(subject, body, { timeout: timeoutOf(subject) }).then(
    (reply) => (reply.json<{ error?: { code: number } }>().error === undefined ? 'accepted' : 'answered with an error'),
    (error: { code: string }) => error.code,
  );

const isSubscriptionRefused = async ({ connection }: Client, subject: string): Promise<boolean> => {
  let refusal: unknown;
  connection.subscribe(subject, {
    callback: (error) => {
      refusal ??= error;
    },
  });
  await connection.flush();
  await connection.flush();
  return refusal !== undefined;
};

const lastSequences = async (): Promise<Record<string, number>> => {
  const infos = await Promise.all(STREAMS.map((name) => operator.manager.streams.info(name)));
  return Object.fromEntries(infos.map(({ config, state }) => [config.name, state.last_seq]));
};

describe.each(serviceNames)('the user %s', (service) => {
  const access = brokerAccess(service);
  const own = new Set(access.requests.map(({ subject }) => subject));

  test('publishes only its own facts and revocations', async () => {
    const published = ALL_REQUESTS.filter((subject) => !subject.startsWith('$JS.'));
    const outcomes = await Promise.all(
      published.map(async (subject) => [subject, await outcomeOf(clients[service], literal(subject), '{}')]),
    );
    expect(outcomes).toEqual(
      published.map((subject) => [subject, own.has(subject) ? 'accepted' : 'PERMISSIONS_VIOLATION']),
    );
  });

  test('sends JetStream only the requests in the table', async () => {
    const requests = ALL_REQUESTS.filter((subject) => subject.startsWith('$JS.API.'));
    for (const subject of requests) {
      const outcome = await outcomeOf(clients[service], literal(subject), '{}');
      if (own.has(subject)) expect(outcome, subject).not.toBe('PERMISSIONS_VIOLATION');
      else expect(outcome, subject).toBe('PERMISSIONS_VIOLATION');
    }
  });

  test('cannot create, change, purge or delete any stream, and reads only its own', async () => {
    const calls = ['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'SNAPSHOT', 'RESTORE', 'MSG.DELETE', 'LEADER.STEPDOWN'];
    const foreign = STREAMS.filter((name) => !own.has(`$JS.API.STREAM.MSG.GET.${name}`)).map(
      (name) => `MSG.GET.${name}`,
    );
    const subjects = PREFIXES.flatMap((prefix) => [
      ...STREAMS.flatMap((name) => calls.map((call) => `${prefix}.STREAM.${call}.${name}`)),
      ...foreign.map((call) => `${prefix}.STREAM.${call}`),
      ...['STREAM.LIST', 'STREAM.NAMES', 'INFO'].map((call) => `${prefix}.${call}`),
      ...STREAMS.map((name) => `${prefix}.DIRECT.GET.${name}`),
    ]);
    const outcomes = new Set(await Promise.all(subjects.map((subject) => outcomeOf(clients[service], subject, '{}'))));
    expect([...outcomes]).toEqual(['PERMISSIONS_VIOLATION']);
  });

  test('cannot create or change durable consumers, and pulls only from its own', async () => {
    const foreign = durables.filter((durable) => durable.service !== service);
    const subjects = PREFIXES.flatMap((prefix) => [
      ...durables.flatMap(({ stream, name }) => [
        ...['CREATE', 'DURABLE.CREATE', 'DELETE', 'PAUSE'].map(
          (call) => `${prefix}.CONSUMER.${call}.${stream}.${name}`,
        ),
        `${prefix}.CONSUMER.CREATE.${stream}.${name}.auth.account.created.v1`,
      ]),
      ...foreign.flatMap(({ stream, name }) =>
        ['INFO', 'MSG.NEXT', 'RESET'].map((call) => `${prefix}.CONSUMER.${call}.${stream}.${name}`),
      ),
      ...STREAMS.flatMap((name) => ['LIST', 'NAMES'].map((call) => `${prefix}.CONSUMER.${call}.${name}`)),
    ]);
    const acknowledgements = foreign.map(({ stream, name }) => `$JS.ACK.${stream}.${name}.1.1.1.1.0`);
    const outcomes = await Promise.all(
      [...subjects, ...acknowledgements].map((subject) => outcomeOf(clients[service], subject, '{}')),
    );
    expect([...new Set(outcomes)]).toEqual(['PERMISSIONS_VIOLATION']);
  });

  test('receives only its own inbox and signals', async () => {
    const others = serviceNames.filter((name) => name !== service);
    const refused = [
      ...['>', '_INBOX.>', 'auth.>', 'billing.>', 'inference.>', '$KV.>', '$JS.>', '$JS.EVENT.>', '$SYS.>', '_R_.>'],
      ...others.flatMap((name) => [brokerAccess(name).inbox, ...brokerAccess(name).signals]),
    ];
    for (const subject of refused) expect(await isSubscriptionRefused(clients[service], subject), subject).toBe(true);
    for (const subject of [access.inbox, ...access.signals]) {
      expect(await isSubscriptionRefused(clients[service], subject), subject).toBe(false);
    }
  });

  test('cannot have the broker write its answers into a stream or the bucket', async () => {
    const { connection } = clients[service];
    const targets = TARGETS.filter((subject) => !mayPublish(service, subject));
    const before = await lastSequences();
    const asked = access.requests
      .map(({ subject }) => literal(subject))
      .filter((subject) => /^facts\.API/.test(subject));
    for (const reply of targets)
      for (const subject of asked) connection.publish(subject, '{"no_wait":true}', { reply });
    await connection.flush();
    await expectOnlyOfOperator(before, targets);
  });

  test('cannot have a watch of the bucket deliver into a stream', async () => {
    const before = await lastSequences();
    const name = `watch_${service}`;
    const subject = `facts.API.CONSUMER.CREATE.KV_revocations.${name}.$KV.revocations.>`;
    const watch = { name, deliver_policy: 'all', ack_policy: 'none', inactive_threshold: 1e10 };
    for (const deliver_subject of TARGETS) {
      const config = { ...watch, deliver_subject, filter_subject: '$KV.revocations.>' };
      await outcomeOf(clients[service], subject, JSON.stringify({ stream_name: 'KV_revocations', config }));
      await outcomeOf(clients[service], `facts.API.CONSUMER.DELETE.KV_revocations.${name}`);
    }
    await expectOnlyOfOperator(before, TARGETS);
  });
});

/**
 * Performs as the operator the action that services must not: the server stores its answers under the reply subjects.
 * This proves that the attack works, and that the service's attempt would have been stored by now.
 */
const expectOnlyOfOperator = async (before: Record<string, number>, targets: readonly string[]): Promise<void> => {
  for (const reply of targets) operator.connection.publish('$JS.API.STREAM.INFO.AUTH', '', { reply });
  const expected = { ...before };
  for (const target of targets) {
    const stream = streamOf(target);
    expected[stream] = (expected[stream] ?? 0) + 1;
  }
  await expect.poll(lastSequences, PATIENCE).toEqual(expected);
};

const streamOf = (subject: string): string =>
  Object.values(streams).find(({ subjects: [first = ''] }) => subject.startsWith(first.replace('>', '')))?.name ??
  'KV_revocations';

const mayPublish = (service: ServiceName, subject: string): boolean => {
  const granted = new Set(brokerAccess(service).requests.map((request) => request.subject));
  return granted.has(subject) || granted.has(subject.replace(/[^.]+$/, '*'));
};

describe('a stranger', () => {
  const attempt = async (options: object): Promise<NatsConnection> =>
    await connect({ servers: new URL(broker.server.url).host, timeout: 2_000, maxReconnectAttempts: 0, ...options });

  test.each([
    ['without credentials', {}],
    ['with a password that is wrong', { user: 'auth', pass: 'guess' }],
    ['with a user that does not exist', { user: 'console', pass: 'password-of-auth' }],
    ["with another user's password", { user: 'operator', pass: 'password-of-auth' }],
  ])('%s is refused', async (_title, options) => {
    await expect(attempt(options)).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
  });
});

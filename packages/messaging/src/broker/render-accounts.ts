import {
  type BrokerRequest,
  brokerAccess,
  type InternalCaller,
  internalCallers,
  type ServiceName,
  serviceNames,
} from '@svc/contracts';
import type { JetStreamOptions } from 'nats';
import { type BrokerAddress, connectionOptions } from './connect-to-broker.ts';

/** Account that holds the streams and the bucket. Only the operator has a user in it. */
const FACTS_ACCOUNT = 'facts';

/**
 * Prefix under which a service reaches the JetStream of the account `facts`. Under the default prefix every account has
 * a separate API, even one without JetStream, and both would answer.
 */
const SERVICE_API_PREFIX = `${FACTS_ACCOUNT}.API`;

/** A user of the broker: a service, or the operator. */
export type BrokerUser = InternalCaller;

/** All users of the broker. */
export const brokerUsers = internalCallers;

export interface RenderAccountsOptions {
  /** Value of a user's password as the server's configuration writes it: quoted text, or `$VARIABLE`. */
  readonly passwordOf: (user: BrokerUser) => string;
}

const OPERATOR: BrokerUser = 'operator';

/**
 * Renders the `accounts` of a nats-server. Each service has a separate account, which imports from `facts` the subjects
 * granted by the event table. An account boundary also covers replies: permissions alone do not check the reply subject
 * of a message, so a user could have the server write its answers into any stream.
 */
export const renderAccounts = ({ passwordOf }: RenderAccountsOptions): string => {
  const lines = [
    'accounts {',
    ...factsAccount(passwordOf(OPERATOR)),
    ...serviceNames.flatMap((service) => serviceAccount(service, passwordOf(service))),
    '}',
  ];
  return `${lines.join('\n')}\n`;
};

/** Returns the URL at which a user reaches a server. */
export const brokerUrl = (address: string, user: BrokerUser, password: string): string => {
  const url = new URL(address);
  url.username = user;
  url.password = encodeURIComponent(password);
  return url.href;
};

const factsAccount = (password: string): string[] => {
  const requests = serviceNames.flatMap((service) =>
    brokerAccess(service).requests.map((request) => ({ ...request, service })),
  );
  const exports = [...Map.groupBy(requests, ({ subject }) => subject)].map(([subject, uses]) => {
    const kind = uses.some(({ replies }) => replies === 'many') ? ', response_type: stream' : '';
    return `      { service: ${quote(subject)}${kind}, accounts: ${list(uses.map(({ service }) => service))} }`;
  });
  const watches = serviceNames.map(
    (service) => `      { stream: ${quote(brokerAccess(service).inbox)}, accounts: ${list([service])} }`,
  );
  return [
    `  ${FACTS_ACCOUNT} {`,
    '    jetstream: enabled',
    `    users: [{ user: ${OPERATOR}, password: ${password} }]`,
    '    exports: [',
    ...exports,
    ...watches,
    '    ]',
    '  }',
  ];
};

const serviceAccount = (service: ServiceName, password: string): string[] => {
  const { requests, signals, inbox } = brokerAccess(service);
  const publish = [...requests.map(({ subject }) => localSubject(subject)), ...signals];
  return [
    `  ${quote(service)} {`,
    `    users: [{ user: ${quote(service)}, password: ${password}, permissions: {`,
    '      publish: [',
    ...publish.map((subject) => `        ${quote(subject)}`),
    '      ]',
    `      subscribe: ${list([inbox, ...signals])}`,
    '    } }]',
    '    imports: [',
    ...requests.map(importOf),
    // Entries that the service watches are sent to its inbox.
    `      { stream: { account: ${FACTS_ACCOUNT}, subject: ${quote(inbox)} } }`,
    '    ]',
    '  }',
  ];
};

const importOf = ({ subject }: BrokerRequest): string => {
  const local = localSubject(subject);
  const to = local === subject ? '' : `, to: ${quote(local)}`;
  return `      { service: { account: ${FACTS_ACCOUNT}, subject: ${quote(subject)} }${to} }`;
};

/** Subject under which a service sends a request. */
const localSubject = (subject: string): string => subject.replace(/^\$JS\.API\./, `${SERVICE_API_PREFIX}.`);

const quote = (text: string): string => JSON.stringify(text);

const list = (texts: readonly string[]): string => `[${texts.map(quote).join(', ')}]`;

/** Options of the JetStream client for the user that an address names. */
export const jetStreamOptions = (address: Pick<BrokerAddress, 'url'>): JetStreamOptions => {
  const { user } = connectionOptions({ url: address.url });
  return serviceNames.some((service) => service === user) ? { apiPrefix: SERVICE_API_PREFIX } : {};
};

import {
  type DurableName,
  REVOCATIONS_BUCKET,
  replicaSignals,
  revocationWriters,
  type ServiceName,
  serviceNames,
  streams,
} from './core/index.ts';
import { allEvents } from './events.ts';

/** A durable consumer of one service on the stream of another. */
export interface Durable {
  readonly name: DurableName;
  readonly service: ServiceName;
  readonly stream: string;
  readonly subjects: readonly string[];
}

/** A subject that a service may send to outside its own account. */
export interface BrokerRequest {
  readonly subject: string;
  readonly replies: 'one' | 'many';
}

/** Broker permissions of a service. The broker refuses everything else. */
export interface BrokerAccess {
  /** Facts, revocations and JetStream requests. None creates, configures or deletes a stream or a durable consumer. */
  readonly requests: readonly BrokerRequest[];
  /** Subjects shared only by the replicas of the service. */
  readonly signals: readonly string[];
  /** Subjects on which the service receives replies and watched entries. */
  readonly inbox: string;
}

const API = '$JS.API';
/** The stream in which JetStream keeps the bucket of revocations. */
export const REVOCATIONS_STREAM = `KV_${REVOCATIONS_BUCKET}`;
/** Prefix of the subjects that the bucket's entries have in that stream. */
export const REVOCATION_SUBJECT_PREFIX = `$KV.${REVOCATIONS_BUCKET}.`;

/** Returns the prefix of the subjects on which a service receives replies. */
export const brokerInboxPrefix = (service: string): string => `_INBOX_${service}`;

/** Returns the stream of the facts that a service publishes; undefined if it publishes none. */
export const streamOfPublisher = (service: ServiceName): string | undefined =>
  Object.entries(streams).find(([publisher]) => publisher === service)?.[1].name;

/** All durable consumers, derived from the event table. */
export const durables: readonly Durable[] = serviceNames.flatMap((service) =>
  Object.entries(streams).flatMap(([publisher, { name: stream }]) => {
    const events = allEvents.filter((event) => event.service === publisher);
    const names = events.flatMap(({ consumers }) => consumers).filter((name) => name.startsWith(`${service}_`));
    return [...new Set(names)].map((name) => ({
      name,
      service,
      stream,
      subjects: events.filter(({ consumers }) => consumers.includes(name)).map(({ subject }) => subject),
    }));
  }),
);

/** Derives a service's broker permissions from the event table. */
export const brokerAccess = (service: ServiceName): BrokerAccess => ({
  requests: [...publishing(service), ...consuming(service), ...revocations(service)],
  signals: replicaSignals[service],
  inbox: `${brokerInboxPrefix(service)}.>`,
});

const one = (subject: string): BrokerRequest => ({ subject, replies: 'one' });

/** A publisher sends its own facts, and reads its own stream to compare it with its outbox. */
const publishing = (service: ServiceName): BrokerRequest[] => {
  const stream = streamOfPublisher(service);
  if (stream === undefined) return [];
  const subjects = allEvents.filter((event) => event.service === service).map(({ subject }) => subject);
  return [...subjects, ...reading(stream)].map(one);
};

/** A consumer pulls from its own durables, acknowledges their messages, and reads them again after a restore. */
const consuming = (service: ServiceName): BrokerRequest[] =>
  durables
    .filter((durable) => durable.service === service)
    .flatMap(({ stream, name }) => [
      one(`${API}.CONSUMER.INFO.${stream}.${name}`),
      one(`${API}.CONSUMER.RESET.${stream}.${name}`),
      { subject: `${API}.CONSUMER.MSG.NEXT.${stream}.${name}`, replies: 'many' },
      one(`$JS.ACK.${stream}.${name}.>`),
    ]);

/**
 * Every service watches the bucket through an ephemeral consumer; few write to it. When a client restarts a broken
 * watch, the subject of its request names neither consumer nor filter.
 */
const revocations = (service: ServiceName): BrokerRequest[] => {
  const prefixes = revocationPrefixes(service);
  return [
    ...prefixes.map((prefix) => `${REVOCATION_SUBJECT_PREFIX}${prefix}.*`),
    ...(prefixes.length > 0 ? reading(REVOCATIONS_STREAM) : [`${API}.STREAM.INFO.${REVOCATIONS_STREAM}`]),
    `${API}.CONSUMER.CREATE.${REVOCATIONS_STREAM}`,
    `${API}.CONSUMER.CREATE.${REVOCATIONS_STREAM}.*.${REVOCATION_SUBJECT_PREFIX}>`,
    `${API}.CONSUMER.DELETE.${REVOCATIONS_STREAM}.*`,
    `$JS.FC.${REVOCATIONS_STREAM}.>`,
  ].map(one);
};

const reading = (stream: string): string[] => ['INFO', 'MSG.GET'].map((call) => `${API}.STREAM.${call}.${stream}`);

/** Returns the key prefixes of the revocations that a service writes; empty for most services. */
export const revocationPrefixes = (service: ServiceName): readonly string[] =>
  Object.entries(revocationWriters).find(([writer]) => writer === service)?.[1] ?? [];

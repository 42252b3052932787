import { REVOCATIONS_BUCKET, replicaSignals, revocationWriters, type ServiceName, streams } from './core/index.ts';
import { allEvents } from './events.ts';

/** Subjects that the NATS user of one service may use. The broker refuses all others. */
export interface BrokerPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

const API = '$JS.API';
/** The stream that JetStream keeps the bucket in, and the service that creates it and sets its limits. */
const BUCKET_STREAM = `KV_${REVOCATIONS_BUCKET}`;
const BUCKET_OWNER: ServiceName = 'auth';

/** Prefix of the subjects on which a service receives replies. Each has its own, so that no other can read them. */
export const brokerInboxPrefix = (service: string): string => `_INBOX_${service}`;

/** Derives the permissions of a service's NATS user from the event table. */
export const brokerPermissions = (service: ServiceName): BrokerPermissions => {
  const signals = replicaSignals.map((signal) => `${signal}.${service}`);
  return {
    publish: [...signals, ...publishing(service), ...consuming(service), ...revocations(service)],
    subscribe: [`${brokerInboxPrefix(service)}.>`, ...signals],
  };
};

/** A publisher sends its own facts, and keeps its own stream. */
const publishing = (service: ServiceName): string[] => {
  const stream = streamOf(service);
  if (stream === undefined) return [];
  const subjects = allEvents.filter((event) => event.service === service).map(({ subject }) => subject);
  const calls = ['INFO', 'CREATE', 'UPDATE', 'MSG.GET'].map((call) => `${API}.STREAM.${call}.${stream}`);
  return [...subjects, ...calls];
};

/** A consumer uses its durables. It creates a stream that is missing, and never changes one. */
const consuming = (service: ServiceName): string[] => {
  const durables = new Map(
    allEvents.flatMap((event) =>
      event.consumers
        .filter((durable) => durable.startsWith(`${service}_`))
        .map((durable): [string, string] => [durable, streamOf(event.service) ?? '']),
    ),
  );
  const calls = [...durables].flatMap(([durable, stream]) => [
    ...['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT'].map((call) => `${API}.CONSUMER.${call}.${stream}.${durable}`),
    `${API}.CONSUMER.CREATE.${stream}.${durable}.>`,
    `$JS.ACK.${stream}.${durable}.>`,
  ]);
  const sources = [...new Set(durables.values())].filter((stream) => stream !== streamOf(service));
  return [
    ...sources.flatMap((stream) => ['INFO', 'CREATE'].map((call) => `${API}.STREAM.${call}.${stream}`)),
    ...calls,
  ];
};

/** Every service watches the bucket through a consumer that lives as long as its watch; few write to it. */
const revocations = (service: ServiceName): string[] => {
  const keys: readonly string[] = Object.entries(revocationWriters).find(([writer]) => writer === service)?.[1] ?? [];
  const streamCalls = ['INFO', 'CREATE'];
  if (keys.length > 0) streamCalls.push('MSG.GET');
  if (service === BUCKET_OWNER) streamCalls.push('UPDATE');
  return [
    ...keys.map((key) => `$KV.${REVOCATIONS_BUCKET}.${key}.*`),
    ...streamCalls.map((call) => `${API}.STREAM.${call}.${BUCKET_STREAM}`),
    `${API}.CONSUMER.CREATE.${BUCKET_STREAM}.>`,
    `${API}.CONSUMER.INFO.${BUCKET_STREAM}.*`,
    `${API}.CONSUMER.DELETE.${BUCKET_STREAM}.*`,
    `$JS.FC.${BUCKET_STREAM}.>`,
  ];
};

const streamOf = (service: ServiceName): string | undefined =>
  Object.entries(streams).find(([publisher]) => publisher === service)?.[1].name;

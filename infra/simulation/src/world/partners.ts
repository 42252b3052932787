import { connectionAggregate, newId } from '@svc/contracts';
import type { Random } from '../engine/random.ts';
import { runOutside } from '../engine/simulated-process.ts';
import type { VirtualTime } from '../engine/time.ts';
import type { Broker } from '../network/broker.ts';

/** A stand-in for auth's outbox: the facts about connections, in their order. */
export interface Connections {
  /** Connects a user to an app, or ends the connection. */
  readonly toggle: (userId: string, clientId: string) => void;
  /** Publishes the facts again that the broker has lost, as the relay of auth's outbox does. */
  readonly publishAgain: () => void;
  /** Present connections as `<user> <app>`. */
  readonly live: () => ReadonlySet<string>;
}

const FACTS = { true: 'auth.connection.created.v1', false: 'auth.connection.revoked.v1' } as const;

export const createConnections = (broker: Broker, time: VirtualTime, epoch: string): Connections => {
  const versions = new Map<string, number>();
  const live = new Set<string>();
  const encoder = new TextEncoder();
  const published: (() => void)[] = [];
  return {
    live: () => live,
    publishAgain: () => {
      for (const publish of published) publish();
    },
    toggle: (userId, clientId) => {
      const key = `${userId} ${clientId}`;
      const isMade = !live.has(key);
      if (isMade) live.add(key);
      else live.delete(key);
      const aggregate = connectionAggregate(userId, clientId);
      const version = (versions.get(aggregate) ?? 0) + 1;
      versions.set(aggregate, version);
      const now = new Date(time.nowMs()).toISOString();
      const common = { svc_user_id: userId, client_id: clientId };
      const data = isMade
        ? { ...common, grant_id: newId('grt'), scope: 'inference', connected_at: now }
        : { ...common, reason: 'user_disconnected', revoked_at: now };
      const subject = FACTS[isMade ? 'true' : 'false'];
      const id = uuidOf(time.nowMs());
      const fact = { id, subject, aggregate, version, epoch, occurred_at: now, data };
      const publish = (): void => {
        runOutside(() => broker.streamOf(subject).publish(subject, encoder.encode(JSON.stringify(fact)), id));
      };
      published.push(publish);
      publish();
    },
  };
};

/** Returns a UUID of version 7. */
const uuidOf = (nowMs: number): string => {
  const time = Math.floor(nowMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${globalThis.crypto.randomUUID().slice(15)}`;
};

/** An event as an app received it first. */
interface ReceivedEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly event: string;
  readonly userId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Envelope {
  readonly event_id: string;
  readonly event: string;
  readonly integration_id: string;
  readonly sequence: number;
  readonly user: { readonly svc_user_id: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** The receivers of all apps. Each keeps a log and handles every event once. */
export interface Receivers {
  readonly receive: (body: Buffer) => { readonly statusCode: number; readonly retryAfter: undefined };
  /** Log of each app, in the order of the first delivery. */
  readonly logs: ReadonlyMap<string, readonly ReceivedEvent[]>;
  /** Ends all faults. */
  readonly heal: () => void;
}

const FAILURE = 0.04;

/** Creates the receivers. Calls `onFault` for a gap, a disorder, or two events in one place. */
export const createReceivers = (random: Random, onFault: (text: string) => void): Receivers => {
  const logs = new Map<string, ReceivedEvent[]>();
  let isHealed = false;
  return {
    logs,
    heal: () => {
      isHealed = true;
    },
    receive: (body) => {
      // The dispatcher encodes events by its contract, which its own tests check.
      const envelope = JSON.parse(body.toString('utf8')) as Envelope;
      if (!isHealed && random.chance(FAILURE))
        return { statusCode: random.pick([500, 503, 429]), retryAfter: undefined };
      const { integration_id: app, sequence, event_id: eventId, event, user, data } = envelope;
      const log = logs.get(app) ?? [];
      logs.set(app, log);
      const before = log[sequence - 1];
      if (before === undefined && sequence !== log.length + 1)
        onFault(`${app} got event ${sequence} after ${log.length}`);
      else if (before === undefined) log.push({ eventId, sequence, event, userId: user.svc_user_id, data });
      else if (before.eventId !== eventId) onFault(`${app} got two events with the number ${sequence}`);
      return { statusCode: 204, retryAfter: undefined };
    },
  };
};

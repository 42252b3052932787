import type { Random } from '../engine/random.ts';

/** An event as an app received it first. */
export interface ReceivedEvent {
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

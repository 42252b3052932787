import { randomUUID } from 'node:crypto';
import type { ReplicaSignal } from '@svc/contracts';
import type { Messaging } from './connection/connect-messaging.ts';

/** Wake-ups for all replicas of a service. A lost one costs a poll interval and nothing else. */
export interface SharedHints {
  /** Wakes this replica at once and the others through core NATS. Never throws. */
  readonly hint: () => void;
  readonly stop: () => void;
}

export interface SharedHintsOptions {
  readonly subject: ReplicaSignal;
  readonly wake: () => void;
}

/** Shortest time between two messages to the other replicas. Hints in between are sent as one when it is over. */
const REMOTE_INTERVAL_MS = 20;

/** Joins the replicas of a service: `wake` is called for the hints of each of them. */
export const shareHints = (messaging: Messaging, { subject, wake }: SharedHintsOptions): SharedHints => {
  const own = randomUUID();
  const state: { timer: NodeJS.Timeout | undefined; isDue: boolean } = { timer: undefined, isDue: false };
  const subscription = messaging.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error === null && message.string() !== own) wake();
    },
  });
  const wakeOthers = (): void => {
    state.isDue = state.timer !== undefined;
    // Without a connection the client would buffer the message; the other replicas poll.
    if (state.isDue || !messaging.isConnected()) return;
    messaging.connection.publish(subject, own);
    state.timer = setTimeout(() => {
      state.timer = undefined;
      if (state.isDue) wakeOthers();
    }, REMOTE_INTERVAL_MS);
    state.timer.unref();
  };
  return {
    hint() {
      wake();
      wakeOthers();
    },
    stop() {
      clearTimeout(state.timer);
      state.isDue = false;
      if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
};

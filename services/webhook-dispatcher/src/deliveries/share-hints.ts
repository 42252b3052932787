import { randomUUID } from 'node:crypto';
import type { Messaging } from '@svc/messaging';

/** Wake-ups for all replicas; one that is lost costs a poll's time and nothing else. */
export interface SharedHints {
  /** Wakes this replica's worker at once, and those of the others by core NATS. Never throws. */
  hint(): void;
  stop(): void;
}

const SUBJECT = 'lanes_due_hint.webhook-dispatcher';
/** Others are woken no more often: what is stored meanwhile is told at the end of the interval. */
const REMOTE_INTERVAL_MS = 20;

/** Joins the replicas: `wake` is called for hints of this one and of every other one. */
export const shareHints = (messaging: Messaging, wake: () => void): SharedHints => {
  const own = randomUUID();
  const state: { timer: NodeJS.Timeout | undefined; isDue: boolean } = { timer: undefined, isDue: false };
  const subscription = messaging.connection.subscribe(SUBJECT, {
    callback: (_error, message) => {
      if (message.string() !== own) wake();
    },
  });
  const tell = (): void => {
    state.isDue = state.timer !== undefined;
    // While the broker is away nothing is buffered for it: the others poll.
    if (state.isDue || !messaging.isConnected()) return;
    messaging.connection.publish(SUBJECT, own);
    state.timer = setTimeout(() => {
      state.timer = undefined;
      if (state.isDue) tell();
    }, REMOTE_INTERVAL_MS);
    state.timer.unref();
  };
  return {
    hint() {
      wake();
      tell();
    },
    stop() {
      clearTimeout(state.timer);
      state.isDue = false;
      if (!subscription.isClosed()) subscription.unsubscribe();
    },
  };
};

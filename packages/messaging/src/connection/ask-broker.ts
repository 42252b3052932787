import type { Messaging } from './connect-messaging.ts';

/** Returns null if the broker is down or does not answer. */
export const askBroker = async <T>(messaging: Messaging, ask: () => Promise<T>): Promise<T | null> => {
  if (!messaging.isConnected()) return null;
  return await messaging.untilDisconnect(ask()).catch(() => null);
};

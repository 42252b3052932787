import type { OtherTabs, SessionNews } from './session.ts';

const CHANNEL = 'svc.session';

/** Connects to the other tabs of this browser. Without channels, each tab finds out by its next call. */
export const openTabs = (): OtherTabs => {
  if (!('BroadcastChannel' in window)) return { tell: () => undefined, listen: () => undefined };
  const channel = new BroadcastChannel(CHANNEL);
  return {
    tell: (news) => channel.postMessage(news),
    listen: (listener) => channel.addEventListener('message', ({ data }: MessageEvent<SessionNews>) => listener(data)),
  };
};

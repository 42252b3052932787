import type { RunningServer } from '@svc/embedded-servers';

/** Wraps a server that can be stopped and started again, in place or otherwise. */
export const restartable = (first: RunningServer, start: () => Promise<RunningServer>) => {
  let server = first;
  return {
    pid: () => server.pid,
    stop: () => server.stop(),
    kill: () => server.kill(),
    start: async (otherwise = start) => {
      server = await otherwise();
    },
    restart: async (how: 'stop' | 'kill') => {
      await server[how]();
      server = await start();
    },
  };
};

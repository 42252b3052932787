import { createContext, use, useLayoutEffect, useSyncExternalStore } from 'react';

/** Keeps the page, and the tab, while something on it would be lost. */
export interface LeaveGuard {
  readonly isGuarded: () => boolean;
  readonly subscribe: (listener: () => void) => () => void;
  /** Begins to guard the page. The returned function ends that. */
  readonly begin: () => () => void;
}

const askBeforeLeaving = (event: BeforeUnloadEvent): void => event.preventDefault();

/** Creates the guard, idle. While it guards, the browser asks before it leaves the console. */
export const createLeaveGuard = (): LeaveGuard => {
  let count = 0;
  const listeners = new Set<() => void>();
  const change = (by: number): void => {
    count += by;
    if (count === 0) window.removeEventListener('beforeunload', askBeforeLeaving);
    else window.addEventListener('beforeunload', askBeforeLeaving);
    for (const listener of listeners) listener();
  };
  return {
    isGuarded: () => count > 0,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    begin: () => {
      change(1);
      return () => change(-1);
    },
  };
};

/** The guard that all pages share. */
export const LeaveGuardContext = createContext<LeaveGuard | undefined>(undefined);

const useSharedGuard = (): LeaveGuard => {
  const guard = use(LeaveGuardContext);
  if (guard === undefined) throw new Error('there is no LeaveGuardContext above');
  return guard;
};

/** Guards the page while `isNeeded`. */
export const useLeaveGuard = (isNeeded: boolean): void => {
  const guard = useSharedGuard();
  useLayoutEffect(() => (isNeeded ? guard.begin() : undefined), [guard, isNeeded]);
};

/** Returns true while the page is guarded. */
export const useIsGuarded = (): boolean => {
  const { subscribe, isGuarded } = useSharedGuard();
  return useSyncExternalStore(subscribe, isGuarded);
};

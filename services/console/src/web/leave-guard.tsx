import {
  createContext,
  type ReactElement,
  type ReactNode,
  use,
  useCallback,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
} from 'react';

/** Keeps the page, and the tab, while something on it would be lost. */
interface LeaveGuard {
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

/** Renders a dialog, which calls `onClose` when the person has what it shows. */
type Render = (onClose: () => void) => ReactElement;

const OnceOnlyContext = createContext<((render: Render) => void) | undefined>(undefined);

/** Returns a function that shows what cannot be read again, such as a secret, even if its page has been left meanwhile. */
export const useShowOnce = (): ((render: Render) => void) => {
  const show = use(OnceOnlyContext);
  if (show === undefined) throw new Error('there is no OnceOnly above');
  return show;
};

/** Renders what is shown once above all pages, one after the other. */
export const OnceOnly = ({ children }: { children: ReactNode }): ReactElement => {
  const [waiting, setWaiting] = useState<readonly Render[]>([]);
  const show = useCallback((render: Render): void => setWaiting((all) => [...all, render]), []);
  const close = useCallback((): void => setWaiting((all) => all.slice(1)), []);
  return (
    <OnceOnlyContext value={show}>
      {children}
      {waiting[0]?.(close)}
    </OnceOnlyContext>
  );
};

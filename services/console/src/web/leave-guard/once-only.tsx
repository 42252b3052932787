import { createContext, type ReactElement, type ReactNode, use, useCallback, useState } from 'react';

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

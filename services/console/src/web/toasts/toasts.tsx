import { createContext, type ReactElement, type ReactNode, use, useCallback, useState } from 'react';
import { useOnDemand } from '../ui/index.ts';

const loadRegion = async () => (await import('./toast-region.tsx')).ToastRegion;

const ToastContext = createContext<((text: string) => void) | undefined>(undefined);

/** Returns a function that confirms an action briefly. */
export const useToast = (): ((text: string) => void) => {
  const add = use(ToastContext);
  if (add === undefined) throw new Error('there is no Toasts above');
  return add;
};

/** Renders the place of toasts. Its script is loaded with the first one. */
export const Toasts = ({ children }: { children: ReactNode }): ReactElement => {
  const { component: ToastRegion, request } = useOnDemand(loadRegion);
  const [waiting, setWaiting] = useState<readonly string[]>([]);
  const clear = useCallback(() => setWaiting([]), []);
  const add = useCallback(
    (text: string): void => {
      setWaiting((texts) => [...texts, text]);
      void request().then((isLoaded) => !isLoaded && clear());
    },
    [request, clear],
  );
  return (
    <ToastContext value={add}>
      {children}
      {ToastRegion !== undefined && <ToastRegion waiting={waiting} onTaken={clear} />}
    </ToastContext>
  );
};

import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react';

/** A component whose script is not part of the first page. */
export interface OnDemand<P> {
  /** Undefined until its script is here. */
  readonly component: ComponentType<P> | undefined;
  readonly isLoading: boolean;
  /** Loads the script and renders the component. Resolves to false if the script could not be loaded. */
  readonly request: () => Promise<boolean>;
  /** Loads the script ahead of a press. */
  readonly warm: () => void;
}

/** Loads a component when it is asked for. A failure keeps the page, and the next request tries again. */
export const useOnDemand = <P>(load: () => Promise<ComponentType<P>>): OnDemand<P> => {
  const [loaded, setLoaded] = useState<{ readonly component: ComponentType<P> }>();
  const [isLoading, setLoading] = useState(false);
  const latest = useRef(load);
  useEffect(() => {
    latest.current = load;
  });
  const request = useCallback(async () => {
    setLoading(true);
    try {
      const component = await latest.current();
      setLoaded({ component });
      return true;
    } catch {
      return false;
    } finally {
      setLoading(false);
    }
  }, []);
  const warm = useCallback((): void => void latest.current().catch(() => undefined), []);
  return { component: loaded?.component, isLoading, request, warm };
};

import { use, useEffect, useRef, useState } from 'react';
import { DraftsContext } from './drafts.ts';

/** Returns what the tab has kept of a form; undefined if it has kept nothing, or `name` is undefined. */
export const useDraft = <V extends object>(name: string | undefined, initial: V): V | undefined => {
  const drafts = use(DraftsContext);
  const [found] = useState(() => {
    const kept = name === undefined ? undefined : drafts?.read(name);
    return hasShapeOf(initial, kept) ? kept : undefined;
  });
  return found;
};

/** Keeps a form that has been changed when its page is left for another document, and only then. */
export const useKeepDraft = (name: string | undefined, values: object, isChanged: boolean): void => {
  const drafts = use(DraftsContext);
  const latest = useRef({ values, isChanged });
  useEffect(() => {
    latest.current = { values, isChanged };
  });
  useEffect(() => {
    if (name === undefined || drafts === undefined) return undefined;
    // A phone may end a page in the background without another event.
    const follow = (): void => {
      if (document.visibilityState === 'hidden' && latest.current.isChanged) drafts.keep(name, latest.current.values);
      else drafts.drop(name);
    };
    const leave = (): void => {
      if (latest.current.isChanged) drafts.keep(name, latest.current.values);
    };
    drafts.drop(name);
    document.addEventListener('visibilitychange', follow);
    window.addEventListener('pagehide', leave);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      window.removeEventListener('pagehide', leave);
    };
  }, [name, drafts]);
};

/** An earlier release may have kept other fields. */
const hasShapeOf = <V extends object>(initial: V, kept: unknown): kept is V =>
  typeof kept === 'object' &&
  kept !== null &&
  Object.entries(initial).every(([name, value]) => name in kept && typeof value === typeof Reflect.get(kept, name));

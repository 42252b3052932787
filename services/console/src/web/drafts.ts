import { createContext, use, useEffect, useRef, useState } from 'react';

/** Values of forms that the tab keeps over a reload or a sign-in. Forms with secrets keep none. */
interface Drafts {
  readonly read: (name: string) => unknown;
  readonly keep: (name: string, values: object) => void;
  readonly drop: (name: string) => void;
}

const PREFIX = 'svc.draft.';

/** Creates the drafts of one account. If storage is denied or full, there are none. */
export const createDrafts = (userId: string): Drafts => {
  const keyOf = (name: string): string => `${PREFIX}${userId}.${name}`;
  return {
    read: (name) => attempt((found): unknown => JSON.parse(found.getItem(keyOf(name)) ?? 'null')),
    keep: (name, values) => attempt((found) => found.setItem(keyOf(name), JSON.stringify(values))),
    drop: (name) => attempt((found) => found.removeItem(keyOf(name))),
  };
};

/** Drops the drafts of all accounts. */
export const dropDrafts = (): void =>
  attempt((found) => {
    for (const key of Object.keys(found)) if (key.startsWith(PREFIX)) found.removeItem(key);
  });

const attempt = <T>(act: (storage: Storage) => T): T | undefined => {
  try {
    return act(window.sessionStorage);
  } catch {
    return undefined;
  }
};

/** The drafts of the account that is signed in. */
export const DraftsContext = createContext<Drafts | undefined>(undefined);

/** Returns true if the tab has kept a form that the page has not shown again yet. */
export const useHasDraft = (name: string): boolean => use(DraftsContext)?.read(name) != null;

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

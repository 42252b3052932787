import { createContext, use } from 'react';

/** Values of forms that the tab keeps over a reload or a sign-in. Forms with secrets keep none. */
export interface Drafts {
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

import type { Account } from '@svc/contracts';
import { createContext, use, useSyncExternalStore } from 'react';
import type { Session, SessionState } from './session.ts';

/** The session that all pages share. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of this page. */
export const useSession = (): Session => {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('there is no SessionContext above');
  return session;
};

/** Returns the state of the session. The component follows its changes. */
export const useSessionState = (): SessionState => {
  const { subscribe, state } = useSession();
  return useSyncExternalStore(subscribe, state);
};

/** Returns the account whose pages are shown; undefined without one. */
export const accountOf = (state: SessionState): Account | undefined =>
  state.status === 'signed_in' || state.status === 'ended' ? state.account : undefined;

/** Returns the signed-in account. Only for pages behind the sign-in. */
export const useAccount = (): Account => {
  const account = accountOf(useSessionState());
  if (account === undefined) throw new Error('no one is signed in');
  return account;
};

/** Returns true if the pages are about a business: the account that is signed in, or one that the person acts for. */
export const useIsBusiness = (): boolean => {
  const { account_type, organization } = useAccount();
  return account_type === 'business' || organization !== null;
};

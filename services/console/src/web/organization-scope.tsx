import { createContext, type ReactElement, type ReactNode, use, useEffect, useState } from 'react';
import { Router, useLocation } from 'wouter';
import { useCoreI18n } from './i18n/index.ts';
import { useIsGuarded } from './leave-guard.tsx';
import { basePathOf, linkTo, organizationIn } from './organization-address.ts';
import { accountOf, foreignOrganizationOf, useSession, useSessionState } from './session/index.ts';
import { SignedOutLayout } from './shell/index.ts';
import { ButtonLink, ErrorNotice, Loading, Page } from './ui/index.ts';

/** Organization of the address; undefined for the account that is signed in. */
const AddressContext = createContext<string | undefined>(undefined);

/** Keeps links and addresses of pages within the organization that the address names. */
export const AddressScope = ({ children }: { children: ReactNode }): ReactElement => {
  const [pathname] = useLocation();
  const isGuarded = useIsGuarded();
  const named = organizationIn(pathname);
  const [shown, setShown] = useState(named);
  // A guarded page keeps its organization, even if the person goes back meanwhile.
  if (!isGuarded && shown !== named) setShown(named);
  const organizationId = isGuarded ? shown : named;
  return (
    <AddressContext value={organizationId}>
      <Router base={basePathOf(organizationId)}>{children}</Router>
    </AddressContext>
  );
};

/** Acts for the organization of the address, then shows its pages. */
export const ActingScope = ({ children }: { children: ReactNode }): ReactNode => {
  const named = use(AddressContext);
  const session = useSession();
  const state = useSessionState();
  const account = accountOf(state);
  const wanted = named === account?.svc_user_id ? undefined : named;
  const present = account && foreignOrganizationOf(account)?.id;
  const isThere = wanted === present || state.status !== 'signed_in';
  const [failure, setFailure] = useState<{ readonly wanted: string | undefined; readonly error: unknown }>();
  const hasFailed = failure !== undefined && failure.wanted === wanted;
  useEffect(() => {
    if (isThere || hasFailed) return undefined;
    let isCurrent = true;
    session.actFor(wanted ?? null).catch((error: unknown) => {
      if (isCurrent) setFailure({ wanted, error });
    });
    return () => {
      isCurrent = false;
    };
  }, [isThere, hasFailed, session, wanted]);
  if (isThere) return children;
  return (
    <SignedOutLayout>
      {hasFailed ? <NotActing error={failure.error} onRetry={() => setFailure(undefined)} /> : <Loading lines={4} />}
    </SignedOutLayout>
  );
};

/** Shows why the person cannot act for the organization of the address. */
const NotActing = ({ error, onRetry }: { error: unknown; onRetry: () => void }): ReactElement => {
  const { shell } = useCoreI18n().messages;
  return (
    <Page title={shell.notActingTitle}>
      <ErrorNotice error={error} onRetry={onRetry} />
      <ButtonLink to={linkTo(undefined)} variant="primary">
        {shell.toOwnAccount}
      </ButtonLink>
      <ButtonLink to={linkTo(undefined, '/account')}>{shell.settings}</ButtonLink>
    </Page>
  );
};

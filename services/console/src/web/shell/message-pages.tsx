import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import { ButtonLink, EmptyState, Page } from '../ui/index.ts';

/** Shows that an address has no page. */
export const NotFoundPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  return (
    <Page title={shell.notFoundTitle}>
      <EmptyState
        icon="info"
        text={shell.notFoundText}
        action={
          <ButtonLink to="/" variant="primary">
            {shell.toOverview}
          </ButtonLink>
        }
      />
    </Page>
  );
};

/** Shows that a page requires a business account. */
export const BusinessOnlyPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const [pathname] = useLocation();
  const isOfApps = pathname.startsWith('/apps');
  return (
    <Page title={isOfApps ? shell.apps : shell.organization}>
      <EmptyState
        icon={isOfApps ? 'apps' : 'members'}
        title={shell.businessOnlyTitle}
        text={isOfApps ? shell.businessOnlyText : shell.organizationOnlyText}
        action={<ButtonLink to="/account">{shell.settings}</ButtonLink>}
      />
    </Page>
  );
};
